import type { BenchOptions } from '../../bench.ts';
import { buildApps } from '../../graphql/contestant.ts';
import { startLoad } from '../../graphql/load.ts';
import { perSecond } from '../../rounds.ts';
import { writePeerNames } from '../peer-names.ts';
import { withStack } from '../stack.ts';
import { startOurContestants } from '../write/our-contestants.ts';
import { startWritePeer } from '../write/peer-contestant.ts';
import { measureRound, runWriteRounds, writeResults } from '../write/rounds.ts';

export type WriteResult = Awaited<ReturnType<typeof measureWrite>>;

export const connections = 32;
const full = { connections, rounds: 5, roundMs: 10_000, warmUpMs: 5_000 };
export const short = { connections, rounds: 1, roundMs: 1_000, warmUpMs: 500 };

export function measureWrite({ quick, progress }: BenchOptions) {
  const plan = quick ? short : full;
  return withStack(1 + writePeerNames.length, async ({ postgres, receiver, system }, defer) => {
    const [ourOrigin = '', ...peerOrigins] = receiver.origins;
    progress('Starting the servers');
    const { withoutKeys, withKeys } = await startOurContestants(system, `${ourOrigin}/hooks`, { built: false, defer });
    const contestants = [withoutKeys, withKeys];
    for (const [index, name] of writePeerNames.entries()) {
      const databaseUrl = await postgres.createDatabase(name);
      contestants.push(await startWritePeer(name, databaseUrl, peerOrigins[index] ?? '', defer));
    }
    const servers = { load: await startLoad(defer), receiver, postgres };
    return { ...plan, results: writeResults(await runWriteRounds(contestants, servers, plan, progress)) };
  });
}

export async function measureMemory({ quick, progress }: BenchOptions) {
  const durationMs = quick ? 2_000 : 60_000;
  progress('Building the apps');
  await buildApps(['partner-api', 'webhook-worker']);
  return withStack(1, async ({ postgres, receiver, system }, defer) => {
    const callbackUrl = `${receiver.origins[0] ?? ''}/hooks`;
    const { withKeys, app, worker } = await startOurContestants(system, callbackUrl, { built: true, defer });
    const load = await startLoad(defer);
    const [apiBefore, workerBefore] = [await app.memory(), await worker.memory()];
    progress(`${durationMs / 1000} s of load`);
    const measured = await measureRound(withKeys, { load, receiver, postgres }, { connections, durationMs });
    return {
      connections,
      durationMs,
      eventsPerSecond: perSecond(measured),
      apps: [
        { name: 'partner-api', before: apiBefore, after: await app.memory() },
        { name: 'webhook-worker', before: workerBefore, after: await worker.memory() },
      ],
    };
  });
}
