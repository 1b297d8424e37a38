import { ScaffoldError } from './scaffold-error.ts';

export interface SortedList {
  /** The text before the list. */
  readonly start: string;
  /** The text after the list. Entries at the end are inserted before it. */
  readonly end: string;
  /** Matches the beginning of an entry, with its key as the first group. Needs the flags `g` and `m`. */
  readonly entry: RegExp;
}

/**
 * Inserts an entry into a list that is ordered by key.
 *
 * @throws {ScaffoldError} when the text does not contain the list
 */
export function insertEntry(text: string, list: SortedList, key: string, entry: string): string {
  const from = text.indexOf(list.start);
  const to = text.indexOf(list.end, from + list.start.length);
  const matches = from < 0 ? [] : [...text.slice(from, to).matchAll(list.entry)];
  if (from < 0 || to < 0 || matches.length === 0)
    throw new ScaffoldError(`Cannot find the list after ${JSON.stringify(list.start.trim())}.`);
  const next = matches.find(({ 1: other = '' }) => other > key);
  const at = next === undefined ? to : from + next.index;
  return `${text.slice(0, at)}${entry}${text.slice(at)}`;
}

/** Inserts an import. The formatter moves it to its place. */
export function insertImport(text: string, line: string): string {
  return text.replace(/^import [^;]*? from '\.[^;]*;\n/m, (first) => `${line}\n${first}`);
}
