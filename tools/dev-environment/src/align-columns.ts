/** Formats rows of two columns as lines, with the second column aligned. */
export function alignColumns(rows: readonly (readonly [first: string, second: string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `${first.padEnd(width)}  ${second}`);
}
