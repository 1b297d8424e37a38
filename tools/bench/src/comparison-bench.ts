import type { Bench } from './bench.ts';
import { describeMachine, markdown, type Report } from './report.ts';
import { runRounds, type RoundPlan } from './rounds.ts';

/** Passed to every contestant of a bench, for example the port of a receiver. It crosses a process boundary as JSON. */
export type Settings = Readonly<Record<string, number | string>>;

/** One implementation under measurement. It runs in its own process, so that no contestant warms up the code of another. */
export interface Contestant {
  /** Works for about `durationMs` milliseconds. Returns the number of completed operations. */
  run(durationMs: number): number | Promise<number>;
  close?(): Promise<void>;
}

/** Contestants that do the same work, measured in interleaved rounds. */
export interface Comparison {
  readonly title: string;
  /** What a contestant does, in the singular: `delivery`. */
  readonly operation: string;
  /** The name of the contestant that the ratios refer to. */
  readonly baseline: string;
  readonly contestants: Readonly<Record<string, (settings: Settings) => Contestant | Promise<Contestant>>>;
}

/** A bench that consists of comparisons. */
export interface ComparisonBench {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  readonly comparisons: readonly Comparison[];
  /** Starts what the contestants share, such as a receiver. */
  start?(): Promise<{ settings: Settings; close(): Promise<void> }>;
}

// Long enough for optimized code and a few garbage collections; short enough that other load on the machine affects all
// contestants of a round.
const full: RoundPlan = { rounds: 5, roundMs: 1000, warmUpMs: 2000 };
const short: RoundPlan = { rounds: 3, roundMs: 50, warmUpMs: 50 };

export function comparisonBench(bench: ComparisonBench): Bench {
  const { name, summary } = bench;
  return {
    name,
    summary,
    parts: null,
    perRound: null,
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
      // oxlint-disable-next-line no-await-in-loop -- one comparison at a time
      const results = await runRounds(bench, comparison, shared?.settings ?? {}, plan);
      comparisons.push({ title, operation, baseline, results });
    }
    const { rounds, roundMs } = plan;
    return { bench: bench.name, quick, machine: describeMachine(), rounds, roundMs, comparisons };
  } finally {
    await shared?.close();
  }
}
