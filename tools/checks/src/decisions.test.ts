import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

const folder = join(workspaceRoot, 'docs/decisions');
const pages = globSync('[0-9]*.md', { cwd: folder }).toSorted();

function read(page: string): string {
  return readFileSync(join(folder, page), 'utf8');
}

/** The items of the list of decisions: number, title and page. */
const rows = Array.from(
  read('README.md').matchAll(/^- (\d{4}): \[(.+)\]\((.+)\)$/gm),
  ([, number = '', title = '', page = '']) => ({ number, title, page }),
);

test('the list has one item for each decision, in order', () => {
  expect(rows.map(({ page }) => page)).toEqual(pages);
});

test.each(rows)('$page begins with the number of the file and the title of the list', ({ number, title, page }) => {
  expect(page.slice(0, 4)).toBe(number);
  expect(read(page).split('\n')[0]).toBe(`# ${number}: ${title}`);
});
