import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { workspaceRoot } from '../../src/workspace.ts';
import { finished, freshClone, type FreshClone } from './fresh-clone.ts';

const minutes = 60_000;

/** The commands of the README's fenced blocks, by the script that they run. */
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

// In this order: the first one installs, into a store that is empty.
test('demo: from nothing to the whole path', { timeout: 5 * minutes }, async () => {
  const { exitCode, stdout, all } = await finished(clone.run(command('demo')));
  expect(all).toContain('Everything as specified');
  expect(exitCode).toBe(0);
  const [, seconds] = /Everything as specified, in ([\d.]+) s/.exec(stdout) ?? [];
  expect(Number(seconds)).toBeLessThan(60);
});

test('dev: answers, and ends with the command that started it', { timeout: 2 * minutes }, async () => {
  const ports = { LENDER_API_PORT: '0', PARTNER_API_PORT: '0', WEBHOOK_WORKER_PORT: '0' };
  const dev = clone.run(command('dev'), ports);
  const end = finished(dev);
  onTestFinished(() => {
    // What is left of it when an expectation fails.
    if (dev.exitCode === null && dev.signalCode === null) process.kill(-(dev.pid ?? 0), 'SIGKILL');
  });
  const devFile = join(clone.path, '.local/dev.json');
  const { lender } = await vi.waitFor(async () => JSON.parse(await readFile(devFile, 'utf8')), { timeout: minutes });
  const headers = { 'Content-Type': 'application/json' };
  expect((await fetch(lender.url, { method: 'POST', headers })).status).toBe(401);
  // Of the shell, npx and pnpm below, only the first is killed.
  dev.kill('SIGKILL');
  await end;
  await vi.waitFor(() => expect(fetch(lender.url)).rejects.toThrow('fetch failed'), { timeout: 10_000, interval: 200 });
});

// `.ci/run` has run this command itself, on a clone, when it gets here: once is enough.
// oxlint-disable-next-line node/no-process-env -- said by `.ci/run`
const hasRun = process.env['README_TEST_COMMAND_HAS_RUN'] === 'true';

test.skipIf(hasRun)('test: everything passes, and the last line counts it', { timeout: 15 * minutes }, async () => {
  const { exitCode, stdout, all } = await finished(clone.run(command('test')));
  if (exitCode !== 0) throw new Error(all);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^[1-9]\d* passed, 0 failed, \d+ skipped$/);
});
