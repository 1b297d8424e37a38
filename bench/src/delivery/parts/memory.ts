import type { ProcessMemory } from '../../app-process.ts';
import { startChild } from '../../child.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import { buildApps } from '../../graphql/our-app.ts';
import type { Part } from '../part.ts';
import { memoryMarkdown, type MemoryResult } from '../report.ts';
import { withStack } from '../stack.ts';
import { startOurContestants } from '../write/our-contestants.ts';
import { measureRound } from '../write/rounds.ts';

const connections = 32;
const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com' };

export const memory: Part<MemoryResult> = {
  summary: `the memory of the built apps while ${connections} connections create referrals with idempotency keys (Linux)`,

  async run({ quick, progress }) {
    const durationMs = quick ? 2_000 : 60_000;
    progress('Building the apps');
    await buildApps(['partner-api', 'webhook-worker']);
    return withStack({ receivers: 1 }, async ({ postgres, receiver, system }, defer) => {
      const [origin = ''] = receiver.origins;
      const { withKeys, app, worker } = await startOurContestants(system, `${origin}/hooks`, {
        input,
        built: true,
        defer,
      });
      const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
      defer(() => load.close());
      const read = async (): Promise<[api: ProcessMemory, worker: ProcessMemory]> => [
        await app.memory(),
        await worker.memory(),
      ];
      const [apiBefore, workerBefore] = await read();
      progress(`${durationMs / 1000} s of load`);
      const servers = { load, receiver, postgres };
      const { events, elapsedMs } = await measureRound(withKeys, servers, { connections, durationMs });
      const [apiAfter, workerAfter] = await read();
      return {
        connections,
        durationMs,
        eventsPerSecond: (events / elapsedMs) * 1000,
        apps: [
          { name: 'partner-api', before: apiBefore, after: apiAfter },
          { name: 'webhook-worker', before: workerBefore, after: workerAfter },
        ],
      };
    });
  },

  markdown: memoryMarkdown,
};
