import { median } from 'simple-statistics';
import { type Child, startChild } from './child.ts';
import type { Comparison, ComparisonBench, Settings } from './comparison.ts';
import type { Measurement } from './measure.ts';

export interface RoundPlan {
  rounds: number;
  roundMs: number;
  /** Not measured, before the first round. Compiles the code and opens the connections. */
  warmUpMs: number;
}

export interface ContestantResult {
  name: string;
  /** Medians over the rounds. */
  perSecond: number;
  cpuMicroseconds: number;
  /** Medians over the rounds of the ratio to the baseline in the same round. */
  rateRatio: number;
  cpuRatio: number;
}

/**
 * Measures the contestants one after another in each round, so that other load on the machine affects all of them. Each
 * round starts with another contestant.
 */
export async function runRounds(
  bench: ComparisonBench,
  comparison: Comparison,
  settings: Settings,
  { rounds, roundMs, warmUpMs }: RoundPlan,
): Promise<ContestantResult[]> {
  const names = Object.keys(comparison.contestants);
  const processes: Child<number, Measurement>[] = [];
  try {
    const started = names.map((name) =>
      startChild<number, Measurement>(
        './contestant-process.ts',
        bench.name,
        comparison.title,
        name,
        JSON.stringify(settings),
      ),
    );
    const results = await Promise.allSettled(started);
    for (const each of results) if (each.status === 'fulfilled') processes.push(each.value.child);
    for (const each of results) if (each.status === 'rejected') throw each.reason;
    for (const process of processes) {
      await process.ask(warmUpMs);
    }
    const measured: Record<string, Measurement[]> = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < names.length; turn += 1) {
        const index = (round + turn) % names.length;
        const measurement = await processes[index]?.ask(roundMs);
        if (measurement !== undefined) measured[names[index] ?? '']?.push(measurement);
      }
    }
    return contestantResults(measured, comparison.baseline);
  } finally {
    await Promise.all(processes.map((child) => child.close()));
  }
}

/** `measured` has the rounds of each contestant, in order. */
export function contestantResults(
  measured: Readonly<Record<string, readonly Measurement[]>>,
  baseline: string,
): ContestantResult[] {
  return Object.entries(measured).map(([name, rounds]) => result(name, rounds, measured[baseline] ?? []));
}

function result(name: string, rounds: readonly Measurement[], baseline: readonly Measurement[]): ContestantResult {
  const ratio = (value: (measurement: Measurement) => number) =>
    median(
      rounds.map((measurement, round) => {
        const reference = baseline[round];
        return reference === undefined ? Number.NaN : value(measurement) / value(reference);
      }),
    );
  return {
    name,
    perSecond: median(rounds.map(perSecond)),
    cpuMicroseconds: median(rounds.map(cpuMicroseconds)),
    rateRatio: ratio(perSecond),
    cpuRatio: ratio(cpuMicroseconds),
  };
}

function perSecond({ operations, elapsedMs }: Measurement): number {
  return (operations / elapsedMs) * 1000;
}

function cpuMicroseconds({ operations, cpuMs }: Measurement): number {
  return (cpuMs / operations) * 1000;
}
