import type { Bench } from './bench.ts';
import type { ComparisonBench } from './comparison.ts';
import { describeMachine, markdown, type Report } from './report.ts';
import { runRounds, type RoundPlan } from './rounds.ts';

// Long enough for optimized code and a few garbage collections; short enough that other load on the machine affects all
// contestants of a round.
const full: RoundPlan = { rounds: 5, roundMs: 600, warmUpMs: 1000 };
const short: RoundPlan = { rounds: 3, roundMs: 50, warmUpMs: 50 };

export function comparisonBench(bench: ComparisonBench): Bench {
  const { name, summary } = bench;
  return {
    name,
    summary,
    parts: null,
    perRound: null,
    options: null,
    async run({ quick, progress }) {
      const report = await compare(bench, quick, progress);
      return { json: report, markdown: markdown(report) };
    },
  };
}

async function compare(bench: ComparisonBench, quick: boolean, progress: (line: string) => void): Promise<Report> {
  const plan = quick ? short : full;
  const shared = await bench.start?.();
  try {
    const comparisons: Report['comparisons'] = [];
    for (const comparison of bench.comparisons) {
      const { title, operation, baseline } = comparison;
      progress(title);
      const results = await runRounds(bench, comparison, shared?.settings ?? {}, plan);
      comparisons.push({ title, operation, baseline, results });
    }
    const { rounds, roundMs } = plan;
    return { bench: bench.name, quick, machine: describeMachine(), rounds, roundMs, comparisons };
  } finally {
    await shared?.close();
  }
}
