import { terminalText } from '@deedwire/domain';

export type Cell = string | Date | number | null;

/** The columns of a table: their headings, and how to read a cell of a row. */
export type Columns<Row> = Record<string, (row: Row) => Cell>;

/**
 * Formats rows as a table with a heading. Each column is as wide as its widest cell. Null becomes `-`.
 *
 * @param width the largest width of a line. A wider table becomes a block of lines for each row, one line for each cell, so that
 * identifiers stay complete. Omit it for a table that a program reads.
 */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  width = Number.POSITIVE_INFINITY,
): string {
  const names = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((read) => formatCell(read(row))));
  const widths = names.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = [names, ...cells].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  if (rows.length === 0 || lines.every((line) => line.length <= width)) return lines.join('\n');
  const nameWidth = Math.max(...names.map(({ length }) => length));
  return cells
    .map((row) => row.map((cell, column) => `${(names[column] ?? '').padEnd(nameWidth)}  ${cell}`).join('\n'))
    .join('\n\n');
}

function formatCell(value: Cell): string {
  if (value === null) return '-';
  // A cell that contains line feeds is one line too.
  return value instanceof Date ? value.toISOString() : terminalText(String(value));
}
