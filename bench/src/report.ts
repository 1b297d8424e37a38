import { availableParallelism, cpus } from 'node:os';

/** The first properties of every report. */
export interface ReportHead {
  bench: string;
  /** True for a short run that only shows that the bench works. */
  quick: boolean;
  machine: ReturnType<typeof describeMachine>;
}

export function describeMachine() {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
  };
}

/** The first line of every report. */
export function introduction(title: string, { quick, machine }: Pick<ReportHead, 'quick' | 'machine'>): string {
  const { node, platform, cores, cpu } = machine;
  const line = `${title} Node ${node} on ${platform}, ${cores} cores (${cpu}).`;
  return quick ? `${line} A quick run: the figures are not meaningful.` : line;
}

/** Formats rows as a Markdown table, the first row as its header. The first column is aligned to the left, the others to the right. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [header = [], ...body] = rows.map((row) => row.map(pad));
  return [header, rule, ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

export const wholeNumber = (value: number): string => Math.round(value).toLocaleString('en-US');

/** A ratio as a cell of a table. */
export const times = (ratio: number | null | undefined, digits = 2): string =>
  typeof ratio === 'number' ? `${ratio.toFixed(digits)} ×` : '–';
