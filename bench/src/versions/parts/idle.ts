import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { latencyHeader, latencyRow, summarize } from '../../delivery/latency.ts';
import { withStack } from '../../delivery/stack.ts';
import { ours } from '../../delivery/workloads.ts';
import { markdownTable, times } from '../../report.ts';
import { interleaved, medianRatio } from '../../rounds.ts';
import { measureLatencies } from '../../services/cases.ts';
import { readCheckout, startBoth } from '../checkout.ts';

type IdleResult = Awaited<ReturnType<typeof measureIdle>>;

// A guard against hanging only.
const timeoutMs = 60_000;

export function measureIdle({ quick, values, progress }: BenchOptions) {
  const other = readCheckout(values['beside']);
  const { rounds, events } = quick ? { rounds: 1, events: 10 } : { rounds: 7, events: 100 };
  return withStack(2, async (stack, defer) => {
    progress('Starting the servers');
    const both = await startBoth(stack, other, { path: '/event/0' }, defer);
    const contestants = both.map(({ withoutKeys }) => withoutKeys);
    const measured = await interleaved(contestants, rounds + 1, async ({ name, request }, round) => {
      progress(`Round ${round - 1} of ${rounds}: ${name}`);
      const latencies = await measureLatencies(request, { events, timeoutMs }, stack.receiver);
      if (!latencies.every(Number.isFinite)) throw new Error(`${name}: events did not arrive.`);
      return latencies;
    });
    // The first round only compiles the code.
    const [ourRounds = [], otherRounds = []] = Array.from(measured.values(), (each) => each.slice(1));
    return {
      rounds,
      results: [
        { name: ours, ...summarize(ourRounds.flat()) },
        { name: other.name, ...summarize(otherRounds.flat()) },
      ],
      p50Ratio: medianRatio(ourRounds, otherRounds, median) ?? Number.NaN,
    };
  });
}

export function idleMarkdown({ rounds, results, p50Ratio }: IdleResult): string {
  return [
    markdownTable([
      latencyHeader('Call to the first byte of the request'),
      ...results.map(({ name, ...summary }) => latencyRow(name, summary)),
    ]),
    `Ratio of the p50 in the same of ${rounds} rounds: ${times(p50Ratio)}.`,
  ].join('\n\n');
}
