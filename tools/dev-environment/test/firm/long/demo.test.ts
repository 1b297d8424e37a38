import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const command = ['--conditions=deedwire-source', join(import.meta.dirname, '../../../src/firm/demo.ts')];

test('exits with 1 and names the step that failed', async () => {
  // This policy rejects the private address of the receiver.
  const child = spawn(process.execPath, command, { env: { ...process.env, WEBHOOK_CALLBACK_POLICY: 'public' } });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  child.stdout.resume();
  await once(child, 'close');
  expect(child.exitCode).toBe(1);
  expect(Buffer.concat(errors).toString()).toMatch(
    /NOT AS SPECIFIED\. Step 8 {2}The partner registers a callback URL\n[\s\S]*CALLBACK_URL_[\s\S]*The demo has stopped everything that it started\./,
  );
});

test('kills the worker and an API, and counts that nothing is lost', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...command, '--kill']);
  const ended = stdout.match(/^ {4}process \d+ ended: SIGKILL$/gm);
  expect(ended).toHaveLength(2);
  const [, accepted, different] = /accepted: (\d+) referrals, (\d+) different ones/.exec(stdout) ?? [];
  expect(Number(accepted)).toBeGreaterThan(200);
  expect(different).toBe(accepted);
  expect(stdout).toContain(`    arrived: ${accepted}, lost: 0\n`);
  expect(stdout).toMatch(/with the same webhook-id: \d+$/m);
  expect(stdout).toMatch(/requests without a response: [1-9]\d*, sent again/);
});
