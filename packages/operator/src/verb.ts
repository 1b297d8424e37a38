import type { OperatorContext, Page, PageRequest } from '@deedwire/actions';
import { interfaceNamesOf } from '@deedwire/core';
import { type AddHelpTextContext, type Command, Help, Option } from 'commander';
import { readList, type Window } from './limit.ts';
import { withContext } from './session.ts';
import type { Shell } from './shell.ts';
import { type Columns, formatTable } from './table.ts';

export interface OutputOptions {
  json?: true;
}

/** Of a command that is either tried or done. */
export interface Choice {
  dryRun?: true;
  yes?: true;
}

/** Whether the command is a dry run. The texts say what `--dry-run` and `--yes` do. */
export function requireChoice({ dryRun, yes }: Choice, command: Command, tries: string, does: string): boolean {
  if ((dryRun === undefined) === (yes === undefined))
    command.error(`error: pass --dry-run to ${tries}, or --yes to ${does}`);
  return yes === undefined;
}

/** A command whose exit code 1 is an answer could not find the answer. */
export class UnknownAnswerError extends Error {}

/** Adds a verb to a noun: `<noun> <verb> …`. */
export function addVerb(noun: Command, usage: string, description: string): Command {
  return noun.command(usage).description(description).option('--json', 'print JSON');
}

/**
 * A text after the help of a verb. Its paragraphs are wrapped at the width of the terminal; lines that begin with two spaces, such as
 * examples, stay as they are.
 */
export function notes(text: string): (context: AddHelpTextContext) => string {
  const paragraphs = text.replaceAll(/(?<=[^\n])\n(?=\S)/g, ' ');
  return ({ command }) => new Help().boxWrap(paragraphs, command.configureOutput().getOutHelpWidth?.() ?? 80);
}

export function interfaceOption(
  { service }: Shell,
  description = 'the interface of the account, which its global identifier says',
): Option {
  return new Option('--interface <name>', description).choices(interfaceNamesOf(service));
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

/** Writes what a person has to know about a printed value to standard error, so that a file or a pipe gets the value alone. */
export function advise({ stderr }: Shell, { json }: OutputOptions, text: string): void {
  if (!json) stderr.write(`${text}\n`);
}

/**
 * Formats a table that fits the terminal, for a person. A pipe gets all columns, with complete identifiers and times.
 *
 * @param fixed columns whose cells are the same in all rows
 */
export function tableFor<Row>(
  { service, stdout }: Shell,
  rows: readonly Row[],
  columns: Columns<Row>,
  fixed: readonly string[] = [],
): string {
  // The width of a pseudo terminal whose size was never set is 0.
  const width = stdout.columns ?? 0;
  if (stdout.isTTY !== true || width === 0) return formatTable(rows, columns);
  const shown = Object.entries(columns).filter(([name]) => !fixed.includes(name));
  return formatTable(rows, Object.fromEntries(shown), { service, width, now: new Date() });
}

export interface ListView<Row> {
  name: string;
  read: (context: OperatorContext, request: PageRequest) => Promise<Page<Row>>;
  /** What `--after` takes. */
  id: (row: Row) => string;
  columns: Columns<Row>;
  /** Columns that the filters of the list fix, if these are set. */
  fixed?: Record<string, unknown>;
  /** What to do if the list is empty. */
  empty: string;
}

/**
 * Reads and prints a list: with `--json` as one JSON array, otherwise as a table. An empty one says what to do next. A warning says how
 * to continue one that was cut off.
 */
export async function printList<Row>(
  shell: Shell,
  options: OutputOptions & Window,
  { name, read, id, columns, fixed = {}, empty }: ListView<Row>,
): Promise<void> {
  const { rows, hasMore } = await withContext(shell, (context) => readList(context, name, options, read));
  const fixedColumns = Object.keys(fixed).filter((column) => fixed[column] !== undefined);
  const none = options.after === undefined ? empty : 'There are no more rows.';
  print(shell, options, rows, () => (rows.length === 0 ? none : tableFor(shell, rows, columns, fixedColumns)));
  const last = rows.at(-1);
  if (hasMore && last !== undefined)
    shell.warn(`There are more rows. Add --after ${id(last)} to continue, or raise --limit.`);
}
