import { median } from 'simple-statistics';
import type { Measurement } from '../measure.ts';
import type { DeliveryContestant, Drained } from './contestant.ts';
import type { ReceiverChild } from './receiver-child.ts';
import type { Workload } from './workloads.ts';

/** One round of one contestant. */
export interface RateMeasurement extends Drained {
  /** Null where it is unknown, or where there is no store. */
  storeCpuMs: number | null;
  walBytes: number | null;
}

/** Medians over the rounds. */
export interface RateResult {
  name: string;
  perSecond: number;
  /** Of the process that sends, per delivery. */
  cpuMicroseconds: number;
  /** Of the processes of its PostgreSQL or Redis, per delivery. */
  storeCpuMicroseconds: number | null;
  /** Per delivery. */
  walBytes: number | null;
  /** In all rounds: attempts that timed out and were repeated. */
  retries: number;
}

export interface RatePlan {
  /** Not measured. Node compiles the hottest functions only after some 20,000 deliveries. */
  warmUpRounds: number;
  rounds: number;
  perRound: number;
}

/**
 * Measures the contestants one after another in each round, so that other load on the machine affects all of them. Each round
 * starts with another contestant. Rounds before the first, which are not measured, compile the code and open connections.
 *
 * @returns the rounds of each contestant, in order
 */
export async function runRateRounds(
  contestants: readonly DeliveryContestant[],
  receiver: ReceiverChild,
  workload: Workload,
  { warmUpRounds, rounds, perRound }: RatePlan,
  progress: (line: string) => void,
): Promise<Map<string, RateMeasurement[]>> {
  const measured = new Map<string, RateMeasurement[]>(contestants.map(({ name }) => [name, []]));
  for (const contestant of contestants) {
    progress(`(${workload.name}) warm-up: ${contestant.name}`);
    for (let round = 0; round < warmUpRounds; round += 1) {
      await measureRound(contestant, receiver, workload, perRound);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contestants.length; turn += 1) {
      const contestant = contestants[(round + turn) % contestants.length];
      if (contestant === undefined) continue;
      const measurement = await measureRound(contestant, receiver, workload, perRound);
      measured.get(contestant.name)?.push(measurement);
      const rate = Math.round(perSecond(measurement)).toLocaleString('en-US');
      progress(`(${workload.name}) round ${round + 1} of ${rounds}: ${contestant.name} ${rate}/s`);
    }
  }
  return measured;
}

/** @throws {Error} unless each delivery arrived, in at most one request per attempt */
async function measureRound(
  contestant: DeliveryContestant,
  receiver: ReceiverChild,
  workload: Workload,
  deliveries: number,
): Promise<RateMeasurement> {
  await receiver.forget();
  await contestant.prepare(workload, deliveries);
  const before = await contestant.storeUsage();
  const measurement = await contestant.drain();
  const after = await contestant.storeUsage();
  const { requests, deliveries: arrived } = await receiver.report();
  const { operations, attempts } = measurement;
  if (arrived !== operations || requests > attempts)
    throw new Error(
      `${contestant.name}: ${operations} deliveries, ${attempts} attempts, ${arrived} arrived in ${requests} requests.`,
    );
  return {
    ...measurement,
    storeCpuMs: difference(after.cpuMs, before.cpuMs),
    walBytes: difference(after.walBytes, before.walBytes),
  };
}

export function rateResult(name: string, rounds: readonly RateMeasurement[]): RateResult {
  const perDelivery = (value: (measurement: RateMeasurement) => number | null): number | null => {
    const values = rounds.map((round) => {
      const total = value(round);
      return total === null ? null : total / round.operations;
    });
    return values.every((each) => each !== null) ? median(values) : null;
  };
  return {
    name,
    perSecond: median(rounds.map(perSecond)),
    cpuMicroseconds: inMicroseconds(perDelivery(({ cpuMs }) => cpuMs)) ?? Number.NaN,
    storeCpuMicroseconds: inMicroseconds(perDelivery(({ storeCpuMs }) => storeCpuMs)),
    walBytes: perDelivery(({ walBytes }) => walBytes),
    retries: rounds.reduce((sum, { attempts, operations }) => sum + attempts - operations, 0),
  };
}

function inMicroseconds(ms: number | null): number | null {
  return ms === null ? null : ms * 1000;
}

/** The rate of `ours` divided by that of `other` in each round. */
export function rateRatios(ours: readonly Measurement[], other: readonly Measurement[]): number[] {
  return ours.map((measurement, round) => {
    const reference = other[round];
    return reference === undefined ? Number.NaN : perSecond(measurement) / perSecond(reference);
  });
}

/** Their median. */
export function rateRatio(ours: readonly Measurement[], other: readonly Measurement[]): number {
  return median(rateRatios(ours, other));
}

function perSecond({ operations, elapsedMs }: Measurement): number {
  return (operations / elapsedMs) * 1000;
}

function difference(after: number | null, before: number | null): number | null {
  return after === null || before === null ? null : after - before;
}
