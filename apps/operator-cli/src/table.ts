/** Formats rows as a table with a heading. Each column is as wide as its widest cell. Null becomes `-`. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: Record<string, (row: Row) => string | Date | number | null>,
): string {
  const names = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((read) => formatCell(read(row))));
  const widths = names.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  return [names, ...cells]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatCell(value: string | Date | number | null): string {
  if (value === null) return '-';
  // Control characters in a partner's text could rewrite the operator's terminal.
  return value instanceof Date ? value.toISOString() : String(value).replaceAll(/\p{Cc}/gu, ' ');
}
