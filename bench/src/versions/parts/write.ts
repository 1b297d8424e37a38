import type { BenchOptions } from '../../bench.ts';
import { writeMarkdown } from '../../delivery/report.ts';
import { withStack } from '../../delivery/stack.ts';
import { runWriteRounds } from '../../delivery/write/rounds.ts';
import { startLoad } from '../../graphql/load.ts';
import { readCheckout, startBoth } from '../checkout.ts';

type WriteBesideResult = Awaited<ReturnType<typeof measureWriteBeside>>;

const connections = 32;
const full = { connections, rounds: 7, roundMs: 6_000, warmUpMs: 5_000 };
const short = { connections, rounds: 1, roundMs: 1_000, warmUpMs: 500 };

export function measureWriteBeside({ quick, values, progress }: BenchOptions) {
  const other = readCheckout(values['beside']);
  const plan = quick ? short : full;
  return withStack(2, async (stack, defer) => {
    progress('Starting the servers');
    const both = await startBoth(stack, other, { path: '/hooks', migration: values['migration'] }, defer);
    const servers = { ...stack, load: await startLoad(defer) };
    const measure = async (kind: 'withoutKeys' | 'withKeys') => {
      const contestants = both.map(({ [kind]: contestant }) => contestant);
      return { ...plan, results: await runWriteRounds(contestants, servers, plan, progress) };
    };
    return { withoutKeys: await measure('withoutKeys'), withKeys: await measure('withKeys') };
  });
}

export function writeBesideMarkdown({ withoutKeys, withKeys }: WriteBesideResult): string {
  return [withoutKeys, withKeys].map(writeMarkdown).join('\n\n');
}
