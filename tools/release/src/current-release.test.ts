import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceRoot } from '@deedwire/checks';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeCurrent } from './current-release.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'current-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function install(release: string): Promise<void> {
  mkdirSync(join(folder, release), { recursive: true });
  writeFileSync(join(folder, release, 'name'), release);
  await makeCurrent(folder, release);
}

const current = (): string => readFileSync(join(folder, 'current/name'), 'utf8');
const previous = (): string => readFileSync(join(folder, 'previous/name'), 'utf8');

test('a release keeps the one before, even if it is written twice', async () => {
  await install('a');
  expect(current()).toBe('a');
  await install('b');
  await install('b');
  expect([current(), previous()]).toEqual(['b', 'a']);
  await install('c');
  expect([current(), previous()]).toEqual(['c', 'b']);
  // Relative: a copy of the folder on another machine works at another path, too.
  expect(readlinkSync(join(folder, 'current'))).toBe('c');
});

test('the commands of the page go back to the previous release, and forward again', async () => {
  await install('a');
  await install('b');
  const page = readFileSync(join(workspaceRoot, 'docs/operations/upgrade.md'), 'utf8');
  const [, commands = ''] = /^```sh\n(\(\n {2}cd \/opt\/deedwire\n(?:.*\n)+?)```$/m.exec(page) ?? [];
  const exchange = () => execFileSync('sh', ['-euc', commands.replace('/opt/deedwire', folder)]);
  exchange();
  expect([current(), previous()]).toEqual(['a', 'b']);
  exchange();
  expect([current(), previous()]).toEqual(['b', 'a']);
});
