import { median } from 'simple-statistics';

// Not by the name of its package: unit tests import this file where only the repository is installed.
export { meanRatio } from '../../tools/testing/src/mean-ratio.ts';

/** Work that was done in some time. */
export interface Done {
  operations: number;
  elapsedMs: number;
}

/** One round of one contestant. */
export interface Measurement extends Done {
  /** User and system time of the contestant's process. */
  cpuMs: number;
}

/** Measures `work` in this process. `work` returns the number of completed operations. */
export async function measure(work: () => Promise<number>): Promise<Measurement> {
  const startMs = performance.now();
  const startCpuMs = ownUsage().cpuMs;
  const operations = await work();
  return { operations, elapsedMs: performance.now() - startMs, cpuMs: ownUsage().cpuMs - startCpuMs };
}

export type ProcessUsage = ReturnType<typeof ownUsage>;

/** The user and system time of a process since it started, and its resident memory. */
export function ownUsage() {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() };
}

/**
 * Measures the contestants one after another in each round, so that other load on the machine affects all of them. Each round
 * starts with another contestant.
 *
 * @returns the rounds of each contestant, in order
 */
export async function interleaved<Contestant extends { readonly name: string }, Round>(
  contestants: readonly Contestant[],
  rounds: number,
  measureRound: (contestant: Contestant, round: number) => Promise<Round>,
): Promise<Map<Contestant['name'], Round[]>> {
  const measured = new Map<Contestant['name'], Round[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % contestants.length;
    for (const contestant of [...contestants.slice(first), ...contestants.slice(0, first)])
      measured.get(contestant.name)?.push(await measureRound(contestant, round + 1));
  }
  return measured;
}

export function perSecond({ operations, elapsedMs }: Done): number {
  return (operations / elapsedMs) * 1000;
}

/** CPU time per operation. */
export function cpuMicroseconds({ operations, cpuMs }: Measurement): number {
  return (cpuMs / operations) * 1000;
}

/** The values of one contestant divided by those of another one in the same round. Null where one of both is not known. */
function ratios<Round>(
  dividends: readonly Round[],
  divisors: readonly Round[],
  value: (round: Round) => number | null,
): (number | null)[] {
  return divisors.map((divisor, round) => {
    const dividend = dividends[round];
    const [above, below] = [dividend === undefined ? Number.NaN : value(dividend), value(divisor)];
    return above === null || below === null ? null : above / below;
  });
}

/** Their median. */
export function medianRatio<Round>(
  dividends: readonly Round[],
  divisors: readonly Round[],
  value: (round: Round) => number | null,
): number | null {
  return knownMedian(ratios(dividends, divisors, value));
}

export function rateRatios(dividends: readonly Done[], divisors: readonly Done[]): number[] {
  return ratios(dividends, divisors, perSecond).map((ratio) => ratio ?? Number.NaN);
}

/** Their median. */
export function rateRatio(dividends: readonly Done[], divisors: readonly Done[]): number {
  return median(rateRatios(dividends, divisors));
}

/** Null if one of both is not known. */
export function difference(after: number | null, before: number | null): number | null {
  return after === null || before === null ? null : after - before;
}

/** Null if one of the values is not known. */
export function knownMedian(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? median(known) : null;
}
