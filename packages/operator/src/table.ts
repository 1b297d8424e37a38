import { type Service, terminalText } from '@deedwire/core';
import stringWidth from 'string-width';
import { shortGid } from './gid.ts';

export type Cell = string | Date | number | null;

/** The columns of a table: their headings, and how to read a cell of a row. The most important column is the first one. */
export type Columns<Row> = Record<string, (row: Row) => Cell>;

/** Where a person reads a table. */
export interface Terminal {
  service: Service;
  /** In columns: a Chinese character takes two. */
  width: number;
  now: Date;
}

/** Wider texts are cut in a terminal. Ids in their short form are shorter. */
const terminalCellMax = 36;

/**
 * Formats rows as a table with a heading. Each column is as wide as its widest cell. Null becomes `-`.
 *
 * A terminal gets short ids and relative times, and only the first columns if all of them do not fit. A program gets everything.
 */
export function formatTable<Row>(rows: readonly Row[], columns: Columns<Row>, terminal?: Terminal): string {
  const names = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((read) => formatCell(read(row), terminal)));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => stringWidth(row[column] ?? ''))),
  );
  const ends = widths.map((_, column) => widths.slice(0, column + 1).reduce((sum, width) => sum + width + 2, -2));
  const shown = Math.max(1, ends.filter((end) => end <= (terminal?.width ?? Number.POSITIVE_INFINITY)).length);
  const lines = [names, ...cells].map((row) =>
    row
      .slice(0, shown)
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join('  ')
      .trimEnd(),
  );
  if (shown < names.length)
    lines.push(
      '',
      ...fold(`Columns that do not fit: ${names.slice(shown).join(', ')}`, terminal?.width),
      '--json prints everything.',
    );
  return lines.join('\n');
}

/** Breaks a text between words. */
function fold(text: string, width = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Formats the fields of one record, one in a line. */
export function formatRecord(fields: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${formatCell(value)}`).join('\n');
}

function formatCell(value: Cell, terminal?: Terminal): string {
  if (value === null) return '-';
  if (value instanceof Date) return terminal === undefined ? value.toISOString() : relativeTime(value, terminal.now);
  // A cell that contains line feeds is one line too.
  const text = terminalText(String(value));
  if (terminal === undefined) return text;
  const short = shortGid(terminal.service, text);
  if (stringWidth(short) <= terminalCellMax) return short;
  let cut = '';
  for (const { segment } of graphemes.segment(short)) {
    if (stringWidth(cut + segment) >= terminalCellMax) break;
    cut += segment;
  }
  return `${cut}…`;
}

const graphemes = new Intl.Segmenter('en');

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { style: 'narrow' });

/** For example `5m ago` or `in 3h`. */
function relativeTime(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1_000;
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const);
  return relative.format(Math.trunc(seconds / length), unit);
}
