import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

interface Claim {
  claim: string;
  /** Files of tests, each with parts of titles in it. */
  proofs: { file: string; titles: string[] }[];
}

/** The rows of the tables of the page, without their heads. */
function claimsOf(page: string): Claim[] {
  return page
    .split('\n')
    .map((line) => /^\|(?<claim>.+?)\|(?<proof>.+)\|$/.exec(line)?.groups)
    .filter((groups) => groups !== undefined && !/^ (?:claim|fault|-+) /.test(groups['claim'] ?? ''))
    .map((groups) => ({
      claim: groups?.['claim']?.trim() ?? '',
      proofs: [
        ...(groups?.['proof'] ?? '').matchAll(/`(?<file>[^`"]+\.test\.ts)` (?<titles>(?:"[^"]+"(?:, )?)+)/g),
      ].map((match) => ({
        file: match.groups?.['file'] ?? '',
        titles: [...(match.groups?.['titles'] ?? '').matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
      })),
    }));
}

const claims = claimsOf(readFileSync(join(workspaceRoot, 'docs/threats.md'), 'utf8'));

test('the page has claims', () => expect(claims.length).toBeGreaterThan(50));

test.each(claims)('a test proves: $claim', ({ proofs }) => {
  expect(proofs.length).toBeGreaterThan(0);
  const missing = proofs.flatMap(({ file, titles }) => {
    const path = join(workspaceRoot, file);
    if (!existsSync(path)) return [file];
    const source = readFileSync(path, 'utf8').replaceAll(/\\(?=[`'"])/g, '');
    return titles.filter((title) => !source.includes(title)).map((title) => `${file}: ${title}`);
  });
  expect(missing).toEqual([]);
});
