import type { BenchOptions } from '../bench.ts';
import {
  eventCount,
  firstReceiver,
  inGroups,
  receiverCount,
  subscriptionCount,
  type Workload,
  workloads,
} from '../delivery/workloads.ts';
import { wholeNumber } from '../report.ts';
import { interleaved, perSecond } from '../rounds.ts';
import { type ComparedFigure, compareRounds } from './compare.ts';
import { withPair } from './pair.ts';
import { measureRound } from './round.ts';

/** The API limits how many keys that it has not verified an address may try at once. */
const connections = 16;
/** While they are written, the worker is suspended: it would lose its leases after 15 s. */
const deliveriesPerRound = 8_000;
// A guard against hanging only.
const writeMs = 300_000;

/** The rate of a worker that finds events of the API, in the workloads of `delivery`. Writing them is not measured. */
export function compareDeliveries({
  quick,
  perRound = quick ? 200 : deliveriesPerRound,
  values,
  progress,
}: BenchOptions) {
  const rounds = quick ? 2 : 10;
  return withPair(values['beside'], receiverCount, async ({ services, receiver, load }) => {
    const [ours, other] = services;
    const figures: ComparedFigure[] = [];
    for (const [index, workload] of workloads.entries()) {
      const origins = receiver.origins.slice(
        firstReceiver(workload),
        firstReceiver(workload) + subscriptionCount(workload),
      );
      const urls = inGroups(
        origins.map((origin) => `${origin}/hooks`),
        workload.subscriptionsPerAccount,
      );
      progress(`(${workload.name}) creating the accounts`);
      const contestants = await Promise.all(
        services.map(async (service) => {
          const request = service.referralRequest(await service.createAccounts(urls));
          return { name: service.name, service, request };
        }),
      );
      const measure = async ({ service, request }: (typeof contestants)[number]) => {
        const events = eventCount(workload, perRound);
        await receiver.forget();
        await service.worker.suspend();
        const { operations } = await load.ask({
          ...request,
          eachRequest: true,
          connections: Math.min(connections, events),
          durationMs: writeMs,
          requests: events,
        });
        const deliveries = operations * workload.subscriptionsPerAccount;
        return measureRound(service, async () => {
          const startMs = performance.now();
          service.worker.resume();
          await receiver.waitFor(deliveries);
          return { operations: deliveries, elapsedMs: performance.now() - startMs };
        });
      };
      // The first workload compiles the code, the hottest functions only after some 20,000 deliveries.
      const warmUps = quick || index > 0 ? 1 : 3;
      for (const contestant of contestants) {
        progress(`(${workload.name}) warm-up: ${contestant.name}`);
        for (let round = 0; round < warmUps; round += 1) await measure(contestant);
      }
      const measured = await interleaved(contestants, rounds, async (contestant, round) => {
        const measurement = await measure(contestant);
        const rate = wholeNumber(perSecond(measurement));
        progress(`(${workload.name}) round ${round} of ${rounds}: ${contestant.name} ${rate}/s`);
        return measurement;
      });
      const roundsOf = ({ name }: typeof ours) => measured.get(name) ?? [];
      figures.push(...compareRounds(titleOf(workload), roundsOf(ours), roundsOf(other)));
    }
    return { beside: other.name, rounds, perRound, figures };
  });
}

function titleOf({ name, title }: Workload): string {
  return `deliveries, (${name}) ${title}`;
}
