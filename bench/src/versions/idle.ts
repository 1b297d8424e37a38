import { quantile } from 'simple-statistics';
import type { BenchOptions } from '../bench.ts';
import { interleaved } from '../rounds.ts';
import { measureLatencies } from '../services/cases.ts';
import { compareValues } from './compare.ts';
import { withPair } from './pair.ts';

// A guard against hanging only.
const timeoutMs = 100_000;

/** The time from a call to its arrival, at 20 calls per second. */
export function compareIdle({ quick, values, progress }: BenchOptions) {
  const [rounds, events] = quick ? [2, 10] : [12, 100];
  return withPair(values['beside'], 2, async ({ services, receiver }) => {
    const contestants = await Promise.all(
      services.map(async (service, index) => {
        const clients = await service.createAccounts([[`${receiver.origins[index] ?? ''}/event/${index}`]]);
        return { name: service.name, event: service.referralRequest(clients) };
      }),
    );
    const measure = ({ event }: (typeof contestants)[number]) =>
      measureLatencies(event, { events, timeoutMs }, receiver);
    for (const contestant of contestants) await measure(contestant);
    const measured = await interleaved(contestants, rounds, (contestant, round) => {
      progress(`Round ${round} of ${rounds}: ${contestant.name}`);
      return measure(contestant);
    });
    const [ours, other] = services;
    const at = (fraction: number) => {
      const valuesOf = ({ name }: typeof ours) => (measured.get(name) ?? []).map((each) => quantile(each, fraction));
      return compareValues(`idle: call to arrival, p${fraction * 100}`, 'ms', valuesOf(ours), valuesOf(other));
    };
    return { beside: other.name, rounds, figures: [at(0.5), at(0.9)] };
  });
}
