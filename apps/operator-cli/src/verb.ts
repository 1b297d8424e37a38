import { Option, type Command } from 'commander';
import type { Listed } from './limit.ts';
import type { Shell } from './shell.ts';
import { type Columns, formatTable } from './table.ts';

export interface OutputOptions {
  json?: true;
}

/** Adds a verb to a noun: `<noun> <verb> …`. */
export function addVerb(noun: Command, usage: string, description: string): Command {
  return noun.command(usage).description(description).option('--json', 'print JSON');
}

export function interfaceOption(): Option {
  return new Option('--interface <name>', 'the interface of the account')
    .choices(['lender', 'partner'])
    .makeOptionMandatory();
}

/** Prints a result as JSON if `--json` is set, otherwise as the text that `text` returns. */
export function print<Result>(
  { stdout }: Shell,
  { json }: OutputOptions,
  result: Result,
  text: (result: Result) => string,
): void {
  stdout.write(`${json ? JSON.stringify(result) : text(result)}\n`);
}

/** Formats a table that fits the terminal. A pipe gets one line for each row. */
export function tableFor<Row>({ stdout }: Shell, rows: readonly Row[], columns: Columns<Row>): string {
  return formatTable(rows, columns, stdout.isTTY === true ? stdout.columns : undefined);
}

/**
 * Prints a list: with `--json` as one JSON array, otherwise as a table. An empty one says what to do next, and one that was cut off
 * says on standard error how to continue it.
 */
export function printList<Row extends object>(
  shell: Shell,
  options: OutputOptions,
  { nodes, hasMore }: Listed<Row>,
  { columns, empty }: { columns: Columns<Row>; empty: string },
): void {
  print(shell, options, nodes, (rows) => (rows.length === 0 ? empty : tableFor(shell, rows, columns)));
  if (!hasMore || options.json) return;
  const last = nodes.at(-1);
  const next =
    last !== undefined && 'id' in last && typeof last.id === 'string'
      ? `Add --after ${last.id} to continue, or raise --limit.`
      : 'Raise --limit to see them.';
  shell.stderr.write(`There are more rows. ${next}\n`);
}
