import { availableParallelism, cpus } from 'node:os';
import { markdownTable } from './markdown-table.ts';
import type { ContestantResult } from './rounds.ts';

export interface Machine {
  node: string;
  platform: string;
  cpu: string;
  cores: number;
}

/** What `pnpm bench <name> --json` prints for a bench that consists of comparisons. */
export interface Report {
  bench: string;
  /** True for a short run that only shows that the bench works. */
  quick: boolean;
  machine: Machine;
  rounds: number;
  roundMs: number;
  comparisons: { title: string; operation: string; baseline: string; results: ContestantResult[] }[];
}

export function describeMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
  };
}

/** Formats a report as Markdown tables. */
export function markdown(report: Report): string {
  const { bench, quick, machine, rounds, roundMs, comparisons } = report;
  const title = `${bench}: ${rounds} interleaved rounds of ${roundMs} ms, medians.`;
  return [introduction(title, quick, machine), comparisonTables({ comparisons })].join('\n\n');
}

export function comparisonTables({ comparisons }: Pick<Report, 'comparisons'>): string {
  return comparisons.map(table).join('\n\n');
}

/** The first line of every report. */
export function introduction(title: string, quick: boolean, { node, platform, cores, cpu }: Machine): string {
  const line = `${title} Node ${node} on ${platform}, ${cores} cores (${cpu}).`;
  return quick ? `${line} A quick run: the figures are not meaningful.` : line;
}

function table({ title, operation, baseline, results }: Report['comparisons'][number]): string {
  return markdownTable([
    [title, 'per second', 'rate', `CPU per ${operation}`, 'CPU'],
    ...results.map(({ name, perSecond, rateRatio, cpuMicroseconds, cpuRatio }) => [
      name === baseline ? `${name} (1 ×)` : name,
      Math.round(perSecond).toLocaleString('en-US'),
      `${rateRatio.toFixed(2)} ×`,
      `${cpuMicroseconds.toFixed(1)} µs`,
      `${cpuRatio.toFixed(2)} ×`,
    ]),
  ]);
}
