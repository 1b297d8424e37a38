import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { latencyHeader, latencyRow, summarize } from '../../delivery/latency.ts';
import { createOurSystem } from '../../delivery/ours/our-system.ts';
import { withStack } from '../../delivery/stack.ts';
import { ours } from '../../delivery/workloads.ts';
import { startOurContestants } from '../../delivery/write/our-contestants.ts';
import { markdownTable, times } from '../../report.ts';
import { interleaved, medianRatio } from '../../rounds.ts';
import { measureLatencies } from '../../services/cases.ts';
import { readCheckout } from '../checkout.ts';

export type VersionsIdleResult = Awaited<ReturnType<typeof measureIdle>>;

const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'bench-{n}' };
// A guard against hanging only.
const timeoutMs = 60_000;

export function measureIdle({ quick, values, progress }: BenchOptions) {
  const { name: otherName, folder } = readCheckout(values['beside']);
  const { rounds, events } = quick ? { rounds: 1, events: 10 } : { rounds: 7, events: 100 };
  return withStack(2, async ({ postgres, receiver, system }, defer) => {
    const [ourOrigin = '', otherOrigin = ''] = receiver.origins;
    progress('Starting the servers');
    const options = { input, built: false, defer };
    const own = await startOurContestants(system, `${ourOrigin}/event/0`, options);
    const otherOptions = { ...options, name: otherName, checkout: folder };
    const otherSystem = await createOurSystem(postgres, 'beside', defer);
    const other = await startOurContestants(otherSystem, `${otherOrigin}/event/0`, otherOptions);
    const contestants = [own, other].map(({ withoutKeys: { request } }, index) => ({
      name: index === 0 ? ours : otherName,
      request,
    }));
    const measured = await interleaved(contestants, rounds + 1, async ({ name, request }, round) => {
      progress(`Round ${round - 1} of ${rounds}: ${name}`);
      const latencies = await measureLatencies(request, { events, timeoutMs }, receiver);
      if (latencies.some((ms) => !Number.isFinite(ms))) throw new Error(`${name}: events did not arrive.`);
      return latencies;
    });
    // The first round only compiles the code.
    const [ourRounds = [], otherRounds = []] = Array.from(measured.values(), (each) => each.slice(1));
    return {
      rounds,
      results: [
        { name: ours, ...summarize(ourRounds.flat()) },
        { name: otherName, ...summarize(otherRounds.flat()) },
      ],
      p50Ratio: medianRatio(ourRounds, otherRounds, median) ?? Number.NaN,
    };
  });
}

export function idleMarkdown({ rounds, results, p50Ratio }: VersionsIdleResult): string {
  return [
    markdownTable([
      latencyHeader('Call to the first byte of the request'),
      ...results.map(({ name, ...summary }) => latencyRow(name, summary)),
    ]),
    `Ratio of the p50 in the same of ${rounds} rounds: ${times(p50Ratio)}.`,
  ].join('\n\n');
}
