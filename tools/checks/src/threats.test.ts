import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

interface Claim {
  claim: string;
  /** Files of tests, each with parts of titles in it. */
  proofs: { file: string; titles: string[] }[];
}

/** The items of the lists of the page: a line with the claim, then one with its proofs. */
function claimsOf(page: string): Claim[] {
  return [...page.matchAll(/^- (?<claim>.+)(?:\n {2}(?<proof>.+))?$/gm)].map(({ groups }) => ({
    claim: groups?.['claim'] ?? '',
    proofs: [...(groups?.['proof'] ?? '').matchAll(/`(?<file>[^`"]+\.test\.ts)` (?<titles>(?:"[^"]+"(?:, )?)+)/g)].map(
      (match) => ({
        file: match.groups?.['file'] ?? '',
        titles: [...(match.groups?.['titles'] ?? '').matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
      }),
    ),
  }));
}

/** The text of a file of tests, and of what it imports of `support`, without the escapes of quotes. */
function sourceOf(path: string): string {
  const own = readFileSync(path, 'utf8');
  const shared = Array.from(own.matchAll(/ from '(\.{1,2}\/support\/[^']+)'/g), ([, file = '']) =>
    readFileSync(join(dirname(path), file), 'utf8'),
  );
  return [own, ...shared].join('\n').replaceAll(/\\(?=[`'"])/g, '');
}

/** What proves a claim of the sample application leaves with it. */
const isDeleted = (file: string): boolean =>
  file.includes('/firm/') && !existsSync(join(workspaceRoot, 'packages/firm'));

const claims = claimsOf(readFileSync(join(workspaceRoot, 'docs/threats.md'), 'utf8'));

test('the page has claims', () => expect(claims.length).toBeGreaterThan(50));

test.each(claims)('a test proves: $claim', ({ proofs }) => {
  expect(proofs.length).toBeGreaterThan(0);
  const missing = proofs.flatMap(({ file, titles }) => {
    const path = join(workspaceRoot, file);
    if (!existsSync(path)) return isDeleted(file) ? [] : [file];
    const source = sourceOf(path);
    return titles.filter((title) => !source.includes(title)).map((title) => `${file}: ${title}`);
  });
  expect(missing).toEqual([]);
});
