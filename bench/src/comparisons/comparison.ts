import { median } from 'simple-statistics';
import type { Bench } from '../bench.ts';
import { startChild } from '../child.ts';
import { describeMachine, introduction, markdownTable, type ReportHead, times, wholeNumber } from '../report.ts';
import { cpuMicroseconds, interleaved, type Measurement, medianRatio, perSecond, rateRatio } from '../rounds.ts';
import { type Defer, withCleanup } from '../with-cleanup.ts';

/** Passed to every contestant of a bench, for example the port of a receiver. It crosses a process boundary as JSON. */
export type Settings = Readonly<Record<string, readonly string[]>>;

/** One implementation under measurement. It runs in its own process, so that no contestant warms up the code of another. */
export interface Contestant {
  /** Works for about `durationMs` milliseconds. Returns the number of completed operations. */
  run(durationMs: number): number | Promise<number>;
  close?(): Promise<unknown>;
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
  start?: (defer: Defer) => Promise<Settings>;
}

/** What `pnpm bench <name> --json` prints for a bench that consists of comparisons. */
export interface ComparisonReport extends ReportHead {
  rounds: number;
  roundMs: number;
  comparisons: { title: string; operation: string; baseline: string; results: ContestantResult[] }[];
}

type ContestantResult = ReturnType<typeof contestantResults>[number];

/**
 * Medians over the rounds, and of the ratios to the baseline in the same round.
 *
 * @param measured the rounds of each contestant, in order
 */
export function contestantResults(measured: ReadonlyMap<string, readonly Measurement[]>, baseline: string) {
  const reference = measured.get(baseline) ?? [];
  return Array.from(measured, ([name, rounds]) => ({
    name,
    perSecond: median(rounds.map(perSecond)),
    cpuMicroseconds: median(rounds.map(cpuMicroseconds)),
    rateRatio: rateRatio(rounds, reference),
    cpuRatio: medianRatio(rounds, reference, cpuMicroseconds) ?? Number.NaN,
  }));
}

export function comparisonMarkdown(report: ComparisonReport): string {
  const { bench, rounds, roundMs } = report;
  const title = `${bench}: ${rounds} interleaved rounds of ${roundMs} ms, medians.`;
  return [introduction(title, report), comparisonTables(report)].join('\n\n');
}

export function comparisonTables({ comparisons }: Pick<ComparisonReport, 'comparisons'>): string {
  return comparisons
    .map(({ title, operation, baseline, results }) =>
      markdownTable([
        [title, 'per second', 'rate', `CPU per ${operation}`, 'CPU'],
        ...results.map((result) => [
          result.name === baseline ? `${result.name} (1 ×)` : result.name,
          wholeNumber(result.perSecond),
          times(result.rateRatio),
          `${result.cpuMicroseconds.toFixed(1)} µs`,
          times(result.cpuRatio),
        ]),
      ]),
    )
    .join('\n\n');
}

// Long enough for optimized code and a few garbage collections; short enough that other load on the machine affects all
// contestants of a round.
const full = { rounds: 5, roundMs: 600, warmUpMs: 1000 };
const short = { rounds: 3, roundMs: 50, warmUpMs: 50 };

export function comparisonBench({ name, summary, comparisons, start }: ComparisonBench): Bench {
  return {
    name,
    summary,
    run: ({ quick, progress }) =>
      withCleanup(async (defer) => {
        const { rounds, roundMs, warmUpMs } = quick ? short : full;
        const settings = JSON.stringify((await start?.(defer)) ?? {});
        const head = { bench: name, quick, machine: describeMachine(), rounds, roundMs };
        const report: ComparisonReport = { ...head, comparisons: [] };
        for (const { title, operation, baseline, contestants } of comparisons) {
          progress(title);
          const results = await withCleanup(async (deferUntilNext) => {
            const module = './comparisons/contestant-process.ts';
            const children = [];
            for (const each of Object.keys(contestants)) {
              const child = await startChild<number, Measurement>(deferUntilNext, module, name, title, each, settings);
              children.push({ name: each, ask: child.ask });
            }
            // Compiles the code and opens the connections.
            for (const child of children) await child.ask(warmUpMs);
            return contestantResults(await interleaved(children, rounds, (child) => child.ask(roundMs)), baseline);
          });
          report.comparisons.push({ title, operation, baseline, results });
        }
        return { json: report, markdown: comparisonMarkdown(report) };
      }),
  };
}
