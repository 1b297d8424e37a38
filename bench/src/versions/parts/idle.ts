import { median, quantile } from 'simple-statistics';
import { latencyHeader, latencyRow, type LatencySummary } from '../../delivery/latency-summary.ts';
import { createOurSystem, type OurSystem } from '../../delivery/ours/our-system.ts';
import type { Part } from '../../delivery/part.ts';
import { ours } from '../../delivery/report.ts';
import { withStack } from '../../delivery/stack.ts';
import { startOurContestants } from '../../delivery/write/our-contestants.ts';
import { markdownTable } from '../../markdown-table.ts';
import { measureLatencies } from '../../services/cases.ts';
import type { Tenant } from '../../services/service.ts';
import { readCheckout } from '../checkout.ts';

const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'bench-{n}' };
// A guard against hanging only.
const timeoutMs = 60_000;

export interface VersionsIdleResult {
  rounds: number;
  results: ({ name: string } & LatencySummary)[];
  /** The p50 of the first divided by that of the second in the same round: the median. */
  p50Ratio: number;
}

export const idle: Part<VersionsIdleResult> = {
  summary: 'the latency from createReferral to the arrival of its webhook, at 20 per second',

  async run({ quick, values, progress }) {
    const { name: otherName, folder } = readCheckout(values['beside']);
    const { rounds, events } = quick ? { rounds: 1, events: 10 } : { rounds: 7, events: 100 };
    return withStack({ receivers: 2 }, async ({ postgres, receiver, system }, defer) => {
      const [ourOrigin = '', otherOrigin = ''] = receiver.origins;
      progress('Starting the servers');
      const start = async (of: OurSystem, origin: string, name: string, checkout?: URL): Promise<[string, Tenant]> => {
        const { withoutKeys } = await startOurContestants(of, `${origin}/event/0`, {
          input,
          name,
          built: false,
          checkout,
          defer,
        });
        return [name, { event: withoutKeys.request, remove: async () => {} }];
      };
      const otherSystem = await createOurSystem(await postgres.createDatabase('beside'));
      defer(() => otherSystem.close());
      const contestants = [
        await start(system, ourOrigin, ours),
        await start(otherSystem, otherOrigin, otherName, folder),
      ];
      const measured = contestants.map((): number[][] => []);
      // The first round only compiles the code.
      for (let round = 0; round <= rounds; round += 1) {
        for (const [index, [name, tenant]] of contestants.entries()) {
          progress(`Round ${round} of ${rounds}: ${name}`);
          const latencies = await measureLatencies(tenant, { events, timeoutMs }, receiver);
          if (latencies.some((ms) => !Number.isFinite(ms))) throw new Error(`${name}: events did not arrive.`);
          if (round > 0) measured[index]?.push(latencies);
        }
      }
      const [own = [], other = []] = measured;
      return {
        rounds,
        results: contestants.map(([name], index) => ({ name, ...summarize((measured[index] ?? []).flat()) })),
        p50Ratio: median(own.map((latencies, round) => quantile(latencies, 0.5) / quantile(other[round] ?? [], 0.5))),
      };
    });
  },

  markdown: ({ rounds, results, p50Ratio }) =>
    [
      markdownTable([
        latencyHeader('Call to the first byte of the request'),
        ...results.map(({ name, ...summary }) => latencyRow(name, summary)),
      ]),
      `Ratio of the p50 in the same of ${rounds} rounds: ${p50Ratio.toFixed(2)} ×.`,
    ].join('\n\n'),
};

function summarize(latencies: readonly number[]): LatencySummary {
  return {
    events: latencies.length,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    maxMs: Math.max(...latencies),
  };
}
