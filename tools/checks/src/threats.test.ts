import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';
import { claimsOf } from './threats.ts';

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

const claims = claimsOf(readFileSync(join(workspaceRoot, 'docs/threats/claims.md'), 'utf8'));

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
