import type { BenchOptions } from '../../bench.ts';
import { createOurSystem } from '../../delivery/ours/our-system.ts';
import { type WriteResult, writeInput } from '../../delivery/parts/write.ts';
import { writeMarkdown } from '../../delivery/report.ts';
import { withStack } from '../../delivery/stack.ts';
import { startOurContestants } from '../../delivery/write/our-contestants.ts';
import { runWriteRounds } from '../../delivery/write/rounds.ts';
import { startLoad } from '../../graphql/load.ts';
import { readCheckout } from '../checkout.ts';

export type VersionsWriteResult = Awaited<ReturnType<typeof measureWriteBeside>>;

const connections = 32;
const full = { connections, rounds: 7, roundMs: 6_000, warmUpMs: 5_000 };
const short = { connections, rounds: 1, roundMs: 1_000, warmUpMs: 500 };

export function measureWriteBeside({ quick, values, progress }: BenchOptions) {
  const { name, folder } = readCheckout(values['beside']);
  const plan = quick ? short : full;
  return withStack(2, async ({ postgres, receiver, system }, defer) => {
    const [ourOrigin = '', otherOrigin = ''] = receiver.origins;
    progress('Starting the servers');
    const options = { input: writeInput, built: false, defer };
    const own = await startOurContestants(system, `${ourOrigin}/hooks`, options);
    const otherSystem = await createOurSystem(postgres, 'beside', defer, values['migration']);
    const otherOptions = { ...options, name, checkout: folder };
    const other = await startOurContestants(otherSystem, `${otherOrigin}/hooks`, otherOptions);
    const servers = { load: await startLoad(defer), receiver, postgres };
    const measure = async (kind: 'withoutKeys' | 'withKeys'): Promise<WriteResult> => ({
      ...plan,
      results: await runWriteRounds([own[kind], other[kind]], servers, plan, progress),
    });
    return { withoutKeys: await measure('withoutKeys'), withKeys: await measure('withKeys') };
  });
}

export function writeBesideMarkdown({ withoutKeys, withKeys }: VersionsWriteResult): string {
  return [withoutKeys, withKeys].map(writeMarkdown).join('\n\n');
}
