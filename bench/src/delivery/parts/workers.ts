import { median } from 'simple-statistics';
import { drainOnce } from '../drain-once.ts';
import type { Part } from '../part.ts';
import { workersMarkdown, type WorkersResult } from '../report.ts';
import { withStack } from '../stack.ts';

const accounts = 64;
const workersMax = 3;

export const workers: Part<WorkersResult> = {
  summary: `the rate of one, two and three workers on one database`,

  async run({ quick, perRound = quick ? 200 : 8_000, progress }) {
    const rounds = quick ? 1 : 3;
    return withStack({ receivers: accounts }, async (stack) => {
      const { system, receiver } = stack;
      const ids = await system.addAccounts(receiver.origins.map((origin) => [`${origin}/hooks`]));
      const results: WorkersResult['results'] = [];
      for (let count = 1; count <= workersMax; count += 1) {
        progress(`Starting worker ${count}`);
        await system.startWorker();
        await system.untilShared(count);
        await drainOnce(stack, ids, perRound / 4, 1);
        const rates: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const rate = await drainOnce(stack, ids, perRound, 1);
          rates.push(rate);
          progress(`${count} started: ${Math.round(rate).toLocaleString('en-US')}/s`);
        }
        results.push({ workers: count, deliveriesPerSecond: median(rates) });
      }
      return { accounts, results };
    });
  },

  markdown: workersMarkdown,
};
