import type { Bench } from '../bench.ts';
import { startChild } from '../child.ts';
import { describeMachine } from '../report.ts';
import { interleaved, type Measurement } from '../rounds.ts';
import { withCleanup } from '../with-cleanup.ts';
import { type ComparisonBench, comparisonMarkdown, type ComparisonReport, contestantResults } from './comparison.ts';

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
