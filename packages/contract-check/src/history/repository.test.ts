import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commitAll, initRepository } from '../../test/support/git.ts';
import { openRepository, type Repository } from './repository.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-check-repository-'));
  initRepository(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

function opened(): Repository {
  const repository = openRepository(folder);
  if (repository === null) throw new Error('no repository');
  return repository;
}

test('texts belong to their paths, also beside a name with a line feed and a missing file', () => {
  const paths = ['a', 'a\nb', 'lost', 'c'];
  for (const path of paths.filter((each) => each !== 'lost')) writeFileSync(join(folder, path), `text of ${path}`);
  const commit = commitAll(folder);
  expect(opened().textsAt(paths.map((path) => ({ commit, path })))).toEqual([
    'text of a',
    'text of a\nb',
    null,
    'text of c',
  ]);
});
