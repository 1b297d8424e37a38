import type { BenchOptions } from '../../bench.ts';
import { startLoad } from '../../graphql/load.ts';
import { writePeerNames } from '../peer-names.ts';
import { withStack } from '../stack.ts';
import { startOurContestants } from '../write/our-contestants.ts';
import { startWritePeer } from '../write/peer-contestant.ts';
import { runWriteRounds } from '../write/rounds.ts';

export type WriteResult = Awaited<ReturnType<typeof measureWrite>>;

const connections = 32;
const full = { connections, rounds: 5, roundMs: 10_000, warmUpMs: 5_000 };
const short = { connections, rounds: 1, roundMs: 1_000, warmUpMs: 500 };

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
    return { ...plan, results: await runWriteRounds(contestants, servers, plan, progress) };
  });
}
