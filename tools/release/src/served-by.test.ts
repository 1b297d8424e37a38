import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readWorkspacePackages } from './plan.ts';
import { findUnserved } from './served-by.ts';

let root: string;

function git(...args: string[]): void {
  const settings = ['commit.gpgsign=false', 'user.name=Tester', 'user.email=tester@example.com'];
  execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], { cwd: root, stdio: 'pipe' });
}

function commit(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A commit');
}

/** The packages that no app serves when `schema` is published, and the apps are tagged if `released` names them. */
async function unserved(released: string[]): Promise<string[]> {
  const packages = readWorkspacePackages(root);
  const tag = packages.filter(({ name }) => released.includes(name));
  return findUnserved(root, { publish: packages.filter(({ kind }) => kind === 'public'), tag }, packages);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'served-by-'));
  git('init', '--quiet', '--initial-branch=main');
  commit({
    'apps/server/package.json': '{ "name": "server", "version": "1.0.0", "private": true }',
    'packages/schema/package.json':
      '{ "name": "schema", "version": "1.0.0", "contractCheck": { "servedBy": ["server"] } }',
    'packages/schema/versions/2026-11-01.graphql': 'one',
    'packages/schema/api/index.api.json': 'one',
    'packages/library/package.json': '{ "name": "library", "version": "1.0.0" }',
  });
  git('tag', 'server@1.0.0');
});
afterEach(() => rmSync(root, { recursive: true }));

test('a changed contract is unserved until its app is released', async () => {
  commit({ 'packages/schema/versions/2026-11-01.graphql': 'two' });
  expect(await unserved([])).toEqual(['schema']);
  expect(await unserved(['server'])).toEqual([]);
});

test('an app that was released with the same contract serves it', async () => {
  commit({ 'packages/schema/README.md': 'Schemas', 'packages/schema/api/index.api.json': 'two' });
  expect(await unserved([])).toEqual([]);
});
