import { median } from 'simple-statistics';
import type { StoreUsage } from '../postgres.ts';
import { wholeNumber } from '../report.ts';
import { cpuMicroseconds, difference, interleaved, knownMedian, type Measurement, perSecond } from '../rounds.ts';
import type { Receivers } from './receivers.ts';
import { type Workload, workloads } from './workloads.ts';

interface Drained extends Measurement {
  /** Above `operations` where attempts timed out and were repeated, as on a busy machine. */
  attempts: number;
}

/** Ours or a peer. One works at a time. */
export interface DeliveryContestant {
  readonly name: string;
  /** Commits events that cause this many deliveries. Nothing is sent before `drain`. */
  prepare(workload: Workload, deliveries: number): Promise<unknown>;
  /** Releases what was prepared, and resolves when the last delivery is settled. */
  drain(): Promise<Drained>;
  /** The use of its store by everything so far. */
  storeUsage(): Promise<StoreUsage>;
}

/** One round of one contestant. */
export interface RateMeasurement extends Drained {
  /** Null where it is unknown, or where there is no store. */
  storeCpuMs: number | null;
  walBytes: number | null;
}

/** The rounds of a workload, of each contestant. */
export interface MeasuredWorkload {
  name: string;
  title: string;
  measured: ReadonlyMap<string, readonly RateMeasurement[]>;
}

interface RatePlan {
  quick: boolean;
  rounds: number;
  perRound: number;
  progress: (line: string) => void;
}

/** Measures the contestants in all workloads. */
export async function measureWorkloads(
  contestants: readonly DeliveryContestant[],
  receiver: Receivers,
  { quick, rounds, perRound, progress }: RatePlan,
): Promise<MeasuredWorkload[]> {
  const results: MeasuredWorkload[] = [];
  for (const [index, workload] of workloads.entries()) {
    const { name, title } = workload;
    // The first workload compiles the code, the hottest functions only after some 20,000 deliveries; the others only open
    // connections.
    const warmUpRounds = quick || index > 0 ? 1 : 3;
    for (const contestant of contestants) {
      progress(`(${name}) warm-up: ${contestant.name}`);
      for (let round = 0; round < warmUpRounds; round += 1)
        await measureRound(contestant, receiver, workload, perRound);
    }
    const measured = await interleaved(contestants, rounds, async (contestant, round) => {
      const measurement = await measureRound(contestant, receiver, workload, perRound);
      progress(`(${name}) round ${round} of ${rounds}: ${contestant.name} ${wholeNumber(perSecond(measurement))}/s`);
      return measurement;
    });
    results.push({ name, title, measured });
  }
  return results;
}

/** @throws {Error} unless each delivery arrived, in at most one request per attempt */
async function measureRound(
  contestant: DeliveryContestant,
  receiver: Receivers,
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

export type RateResult = ReturnType<typeof rateResult>;

/** Medians over the rounds, per delivery: the CPU time of the process that sends, and the use of its store. */
export function rateResult(name: string, rounds: readonly RateMeasurement[]) {
  const perDelivery = (of: 'storeCpuMs' | 'walBytes', factor: number): number | null =>
    knownMedian(rounds.map(({ [of]: total, operations }) => (total === null ? null : (total * factor) / operations)));
  return {
    name,
    perSecond: median(rounds.map(perSecond)),
    cpuMicroseconds: median(rounds.map(cpuMicroseconds)),
    storeCpuMicroseconds: perDelivery('storeCpuMs', 1000),
    walBytes: perDelivery('walBytes', 1),
    // In all rounds: attempts that timed out and were repeated.
    retries: rounds.reduce((sum, { attempts, operations }) => sum + attempts - operations, 0),
  };
}
