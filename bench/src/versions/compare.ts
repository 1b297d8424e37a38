import { median } from 'simple-statistics';
import type { ProcessesCpuMs } from '../checkout/deedwire-service.ts';
import { markdownTable, times, wholeNumber } from '../report.ts';
import { type Done, meanRatio, perSecond } from '../rounds.ts';

/** A figure of two checkouts: medians over the rounds, and the mean of the ratios in the same round, with the interval of 95 %. */
export interface ComparedFigure {
  readonly title: string;
  readonly unit: 'per second' | 'µs' | 'ms';
  readonly ours: number;
  readonly other: number;
  readonly ratio: ReturnType<typeof meanRatio>;
}

/** A round, with the CPU time of each process until its results were recorded. */
export interface CheckoutRound extends Done {
  readonly cpuMs: ProcessesCpuMs;
}

export function compareValues(
  title: string,
  unit: ComparedFigure['unit'],
  ours: readonly number[],
  other: readonly number[],
): ComparedFigure {
  const ratio = meanRatio(ours.map((value, round) => value / (other[round] ?? Number.NaN)));
  return { title, unit, ours: median([...ours]), other: median([...other]), ratio };
}

const processes = { api: 'partner-api', worker: 'webhook-worker', postgres: 'PostgreSQL' } as const;

/** The rate, and the CPU time of each process per operation. Without that of PostgreSQL where the platform does not tell it. */
export function compareRounds(
  title: string,
  ours: readonly CheckoutRound[],
  other: readonly CheckoutRound[],
): ComparedFigure[] {
  const cpuOf = (rounds: readonly CheckoutRound[], process: keyof ProcessesCpuMs): number[] =>
    rounds.flatMap(({ cpuMs: { [process]: ms }, operations }) => (ms === null ? [] : [(ms * 1000) / operations]));
  const cpu = (['api', 'worker', 'postgres'] as const).flatMap((process) => {
    const [own, others] = [cpuOf(ours, process), cpuOf(other, process)];
    return own.length === 0 ? [] : [compareValues(`${title}: CPU of ${processes[process]}`, 'µs', own, others)];
  });
  return [compareValues(title, 'per second', ours.map(perSecond), other.map(perSecond)), ...cpu];
}

/** What a part has measured. */
export interface Comparison {
  /** The other checkout: the first digits of its commit. */
  readonly beside: string;
  readonly rounds: number;
  readonly figures: readonly ComparedFigure[];
}

export function comparedMarkdown({ beside, rounds, figures }: Comparison): string {
  const table = markdownTable([
    ['', 'this tree', beside, 'ratio', 'from', 'to'],
    ...figures.map(({ title, unit, ours, other, ratio: { mean, low, high } }) => [
      title,
      shown(ours, unit),
      shown(other, unit),
      ...[mean, low, high].map((ratio) => times(ratio, 3)),
    ]),
  ]);
  return `Medians of ${rounds} interleaved rounds; the geometric mean of the ratios, with the interval of 95 %.\n\n${table}`;
}

function shown(value: number, unit: ComparedFigure['unit']): string {
  return unit === 'per second' ? `${wholeNumber(value)}/s` : `${value.toFixed(unit === 'ms' ? 2 : 1)} ${unit}`;
}
