import { median } from 'simple-statistics';
import { startChild } from '../../child.ts';
import { startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { drainOnce } from '../drain-once.ts';
import { createOurSystem } from '../ours/our-system.ts';
import type { Part } from '../part.ts';
import { storeMarkdown, type StoreResult } from '../report.ts';

const accountCount = 64;

export const store: Part<StoreResult> = {
  summary: 'the rate without HTTP: every attempt succeeds at once, so that only the engine and its storage remain',

  async run({ quick, perRound = quick ? 200 : 8_000, progress }) {
    const rounds = quick ? 1 : 5;
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const system = await createOurSystem(await postgres.createDatabase('ours'));
      defer(() => system.close());
      const accounts = await system.addAccounts(
        Array.from({ length: accountCount }, () => ['http://127.0.0.1:1/not-called']),
      );
      const { databaseUrl, keyId, key } = system.forWorkers;
      const { child } = await startChild('./delivery/ours/store-only-process.ts', databaseUrl, keyId, key);
      defer(() => child.close());
      progress('Warm-up');
      await drainOnce({ system, receiver: null }, accounts, perRound, 1);
      const rates: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const rate = await drainOnce({ system, receiver: null }, accounts, perRound, 1);
        rates.push(rate);
        progress(`Round ${round + 1} of ${rounds}: ${Math.round(rate).toLocaleString('en-US')}/s`);
      }
      return { accounts: accountCount, deliveriesPerSecond: median(rates) };
    });
  },

  markdown: storeMarkdown,
};
