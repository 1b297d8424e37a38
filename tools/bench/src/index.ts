import type { Bench } from './bench.ts';
import { machine, type Report } from './report.ts';
import { runRounds, type RoundPlan } from './rounds.ts';

export type { Bench } from './bench.ts';
export { benches, benchNamed } from './benches/index.ts';
export { markdown, type Report } from './report.ts';

// Long enough for optimized code and a few garbage collections; short enough that other load on the machine affects all
// contestants of a round.
const full: RoundPlan = { rounds: 5, roundMs: 1000, warmUpMs: 2000 };
const short: RoundPlan = { rounds: 3, roundMs: 50, warmUpMs: 50 };

export async function runBench(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const plan = quick ? short : full;
  const shared = await bench.start?.();
  try {
    const comparisons: Report['comparisons'] = [];
    for (const comparison of bench.comparisons) {
      const { title, operation, baseline } = comparison;
      // oxlint-disable-next-line no-await-in-loop -- one comparison at a time
      const results = await runRounds(bench, comparison, shared?.settings ?? {}, plan);
      comparisons.push({ title, operation, baseline, results });
    }
    const { rounds, roundMs } = plan;
    return { bench: bench.name, quick, machine: machine(), rounds, roundMs, comparisons };
  } finally {
    await shared?.close();
  }
}
