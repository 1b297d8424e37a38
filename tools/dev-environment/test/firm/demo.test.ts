import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const command = ['--conditions=deedwire-source', join(import.meta.dirname, '../../src/firm/demo.ts')];

const run = (script: string) => promisify(execFile)('sh', ['-c', script]);

test('prints help, names a wrong option, and ends quietly when its reader has gone', async () => {
  const demo = [process.execPath, ...command].map((word) => `"${word}"`).join(' ');
  expect((await run(`${demo} --help`)).stdout).toMatch(/^Usage: npx -y pnpm@[\d.]+ demo \[options\]\n/);
  const code = 'echo "exit code $?" >&2';
  expect((await run(`${demo} --fast; ${code}`)).stderr).toMatch(
    /^Unknown option '--fast'\. `npx -y pnpm@[\d.]+ demo --help` lists the options\.\nexit code 2\n$/,
  );
  expect((await run(`(${demo}; ${code}) | true`)).stderr).toBe('exit code 141\n');
});

test('completes the whole flow', async () => {
  // At this level, the apps do not log where they listen.
  const env = { ...process.env, LOG_LEVEL: 'warn' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { env });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/\nEvery step behaved as specified. The demo took \d+\.\d s\.\n/);
  expect(stdout.match(/the signature verifies/g)).toHaveLength(3);
  expect(stdout).toMatch(/^ {4}webhook-worker is process \d+$/m);
  // Prose is wrapped. What was sent is indented further, and whole.
  const lines = stdout.split('\n');
  expect(lines.filter((line) => line.length > 60 && !/^ {6}|^ {4}[→←]|^ {2}npx|^Every/.test(line))).toEqual([]);
  expect(lines).toContain('        createWebhookSubscription(input: $input) {');
  expect(lines).toContain('            "name": "Northwind Building Society",');
  expect(lines).toContain('        "type": "referral.converted",');
  expect(lines.slice(-5)).toEqual([
    'What to try next:',
    expect.stringMatching(/^ {2}npx -y pnpm@[\d.]+ demo --kill {2}kill the worker and an API meanwhile$/),
    expect.stringMatching(/^ {2}npx -y pnpm@[\d.]+ dev --receiver {2}keep it running, and print webhooks$/),
    '  docs/quickstart.md  receive webhooks in your code',
    '',
  ]);
});
