import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';

const root = join(import.meta.dirname, '../../../..');

/** The text of a file, by its path in the workspace. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The texts of the files that a pattern of paths in the workspace matches. */
export function readTexts(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map(readText);
}

/** The SDL of every version of every interface. */
export const schemas = readTexts('packages/*-schema/versions/*.graphql');

/**
 * The cells of the rows of a table of a page.
 *
 * @param path of the page, relative to the workspace
 * @param head the first cell of the head of the table
 */
export function readTable(path: string, head: string): string[][] {
  const [, rows] = new RegExp(`^\\| ${head} +\\|.*\\n\\|[ |-]+\\n((?:\\|.*\\n)+)`, 'm').exec(readText(path)) ?? [];
  const lines = (rows ?? missing()).trimEnd().split('\n');
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
