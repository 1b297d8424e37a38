import { availableParallelism, cpus } from 'node:os';
import type { ContestantResult } from './rounds.ts';

/** What `pnpm bench <name> --json` prints. */
export interface Report {
  bench: string;
  /** True for a short run that only shows that the bench works. */
  quick: boolean;
  machine: { node: string; platform: string; cpu: string; cores: number };
  rounds: number;
  roundMs: number;
  comparisons: { title: string; operation: string; baseline: string; results: ContestantResult[] }[];
}

export function machine(): Report['machine'] {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
  };
}

/** Formats a report as Markdown tables. */
export function markdown({ bench, quick, machine: { node, platform, cpu, cores }, ...report }: Report): string {
  const { rounds, roundMs, comparisons } = report;
  const intro = `${bench}: ${rounds} interleaved rounds of ${roundMs} ms, medians. Node ${node} on ${platform}, ${cores} cores (${cpu}).`;
  return [quick ? `${intro} A quick run: the figures are not meaningful.` : intro, ...comparisons.map(table)].join(
    '\n\n',
  );
}

function table({ title, operation, baseline, results }: Report['comparisons'][number]): string {
  const rows = [
    [title, 'per second', 'rate', `CPU per ${operation}`, 'CPU'],
    ...results.map(({ name, perSecond, rateRatio, cpuMicroseconds, cpuRatio }) => [
      name === baseline ? `${name} (1 ×)` : name,
      Math.round(perSecond).toLocaleString('en-US'),
      `${rateRatio.toFixed(2)} ×`,
      `${cpuMicroseconds.toFixed(1)} µs`,
      `${cpuRatio.toFixed(2)} ×`,
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map(
    (row) =>
      `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
