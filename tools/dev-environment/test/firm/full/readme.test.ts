import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interfaceNames } from '@deedwire/firm';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { workspaceRoot } from '../../../src/workspace.ts';
import { freePorts } from '../../dev-process.ts';
import { finished, freshClone, type FreshClone } from '../../full/fresh-clone.ts';

// Guard against hanging only. The first command installs, and a busy machine needs many times the usual duration.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
const polling = { timeout: 240_000, interval: 200 };

/** The commands in the fenced blocks of the README, by the script that they run. */
const readme = readFileSync(join(workspaceRoot, 'README.md'), 'utf8');
const commands = new Map(
  [...readme.matchAll(/^```sh\n(npx -y pnpm@[\d.]+ (\S+))\n```$/gm)].map(([, line = '', script = '']) => [
    script,
    line,
  ]),
);

function command(script: string): string {
  return commands.get(script) ?? `README.md has no command for ${script}`;
}

let clone: FreshClone;
beforeAll(async () => {
  clone = await freshClone();
});
afterAll(() => clone.remove());

test('a newcomer can read it in a few minutes', () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(700);
});

test('demo: ends with the error of an installation that failed', async () => {
  // A file in the place of the folder.
  const modules = join(clone.path, 'node_modules');
  await writeFile(modules, '');
  const { exitCode, all } = await finished(clone.run(command('demo')));
  await rm(modules);
  expect(exitCode).toBe(1);
  expect(all).toMatch(/not a directory/i);
  expect(all).toMatch(/The dependencies are not installed\. .+ `npx -y pnpm@[\d.]+ install`\.\n/);
  expect(all).not.toMatch(/^ +at /m);
});

test('dev: installs, prints the webhook that the command of the quickstart causes, and ends with the command that started it', async () => {
  const quickstart = readFileSync(join(workspaceRoot, 'docs/quickstart.md'), 'utf8');
  const [, create = ''] = /^```sh\n(npx .* operator referral create .*)\n```$/m.exec(quickstart) ?? [];
  const dev = clone.run(`${command('dev')} --receiver`, freePorts(interfaceNames));
  const end = finished(dev);
  onTestFinished(() => {
    // After a failed expectation, the processes are still running.
    if (dev.exitCode === null && dev.signalCode === null) process.kill(-(dev.pid ?? 0), 'SIGKILL');
  });
  let output = '';
  dev.stdout?.on('data', (text: string) => (output += text));
  await vi.waitFor(() => expect(output).toContain('Deedwire is running.'), polling);
  const { lender } = JSON.parse(await readFile(join(clone.path, '.local/dev.json'), 'utf8'));
  const headers = { 'Content-Type': 'application/json' };
  expect((await fetch(lender.url, { method: 'POST', headers })).status).toBe(401);
  const { exitCode, all } = await finished(clone.run(`. .local/dev.env; ${create}`));
  expect(all).toContain('Created the referral of Grace Hopper');
  expect(exitCode).toBe(0);
  await vi.waitFor(() => expect(output).toMatch(/^receiver +referral\.created 2026-11-01/m), polling);
  // Kills the shell only, not its children npx and pnpm.
  dev.kill('SIGKILL');
  await end;
  await vi.waitFor(() => expect(fetch(lender.url)).rejects.toThrow('fetch failed'), polling);
});

// `demo.test.ts` runs all of it.
test('demo: starts', async () => {
  const { exitCode, all } = await finished(clone.run(`${command('demo')} --help`));
  expect({ exitCode, all }).toMatchObject({ exitCode: 0, all: expect.stringContaining('Usage: ') });
});

test.skipIf(process.env['SKIP_README_TEST_COMMAND'] === 'true')(
  'test: everything passes, and the last line has the counts',
  { timeout: 3_600_000 },
  async () => {
    const { exitCode, stdout, all } = await finished(clone.run(command('test')));
    if (exitCode !== 0) throw new Error(all);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^[1-9]\d* passed, 0 failed, \d+ skipped$/);
  },
);
