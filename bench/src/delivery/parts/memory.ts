import type { BenchOptions } from '../../bench.ts';
import { startLoad } from '../../graphql/load.ts';
import { buildApps } from '../../graphql/our-app.ts';
import { perSecond } from '../../rounds.ts';
import { withStack } from '../stack.ts';
import { startOurContestants } from '../write/our-contestants.ts';
import { measureRound } from '../write/rounds.ts';

const connections = 32;

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
