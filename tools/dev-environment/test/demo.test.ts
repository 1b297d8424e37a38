import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const command = ['--conditions=deedwire-source', join(import.meta.dirname, '../src/demo.ts')];

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
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/\nEvery step behaved as specified. The demo took \d+\.\d s\.\n/);
  expect(stdout.match(/the signature verifies/g)).toHaveLength(3);
  expect(stdout).toMatch(/^ {4}webhook-worker {2}process \d+, delivers the webhooks$/m);
  // The progress dots of a slow machine are not cut.
  const lines = stdout.split('\n').filter((line) => !line.startsWith('    waiting for'));
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  // One line of each of: a cut line, a GraphQL document, a response and the body of a webhook.
  expect(lines).toContainEqual(expect.stringMatching(/^.{99}…$/));
  expect(lines).toContain('        createWebhookSubscription(input: $input) {');
  expect(lines).toContain('        "name": "Northwind Building Society",');
  expect(lines).toContain('        "type": "referral.converted",');
  expect(lines.slice(-6)).toEqual([
    'What to try next:',
    expect.stringMatching(/^ {2}npx -y pnpm@[\d.]+ dev {13}keep this system running for your requests$/),
    expect.stringMatching(/^ {2}npx -y pnpm@[\d.]+ dev --receiver {2}and print each webhook as it arrives$/),
    expect.stringMatching(/^ {2}docs\/quickstart\.md +receive and verify webhooks in your code$/),
    'For another domain: packages contract-check, webhook-signing, webhook-receiver',
    '',
  ]);
});
