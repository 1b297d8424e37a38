import type { BenchOptions } from '../bench.ts';
import { referralInput } from '../delivery/write/our-clients.ts';
import { wholeNumber } from '../report.ts';
import { interleaved, perSecond } from '../rounds.ts';
import { compareRounds } from './compare.ts';
import { withPair } from './pair.ts';
import { measureRound } from './round.ts';

const connections = 32;

const cases = [
  { title: 'plain', input: referralInput },
  // A request has one number, which is that of its key.
  { title: 'keyed', input: { ...referralInput, externalReference: 'CRM-1', idempotencyKey: 'key-{n}' } },
];

export function compareWriting({ quick, values, progress }: BenchOptions) {
  const plan = quick ? { rounds: 2, roundMs: 500, warmUpMs: 500 } : { rounds: 12, roundMs: 5_000, warmUpMs: 10_000 };
  return withPair(values['beside'], 2, async ({ services, receiver, load }) => {
    const contestants = await Promise.all(
      services.map(async (service, index) => {
        const clients = await service.createAccounts([[`${receiver.origins[index] ?? ''}/hooks`]]);
        return cases.map(({ title, input }) => {
          const request = service.referralRequest(clients, input);
          return { name: `${service.name}, ${title}`, service, request };
        });
      }),
    );
    const measure = (contestant: (typeof contestants)[number][number], durationMs: number) =>
      measureRound(contestant.service, async () => {
        await receiver.forget();
        const startMs = performance.now();
        const { operations } = await load.ask({ ...contestant.request, connections, durationMs });
        await receiver.waitFor(operations);
        return { operations, elapsedMs: performance.now() - startMs };
      });
    for (const contestant of contestants.flat()) {
      progress(`Warm-up: ${contestant.name}`);
      await measure(contestant, plan.warmUpMs);
    }
    const measured = await interleaved(contestants.flat(), plan.rounds, async (contestant, round) => {
      const measurement = await measure(contestant, plan.roundMs);
      progress(`Round ${round} of ${plan.rounds}: ${contestant.name} ${wholeNumber(perSecond(measurement))}/s`);
      return measurement;
    });
    const [ours, other] = services;
    const figures = cases.flatMap(({ title }) => {
      const roundsOf = ({ name }: typeof ours) => measured.get(`${name}, ${title}`) ?? [];
      return compareRounds(`createReferral to webhook, ${title}`, roundsOf(ours), roundsOf(other));
    });
    return { beside: other.name, rounds: plan.rounds, figures };
  });
}
