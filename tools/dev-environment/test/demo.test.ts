import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const command = ['--conditions=deedwire-source', join(import.meta.dirname, '../src/demo.ts')];

// The demo's own bounds for a busy machine come to more than a test usually gets.
test('the demo walks the whole path', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Everything as specified, in \d+\.\d s\.\n$/);
  expect(stdout.match(/the signature verifies/g)).toHaveLength(3);
});

test('a step that is not as specified ends it with 1 and is named', async () => {
  // The receiver's address is a private one, which this policy forbids.
  // oxlint-disable-next-line node/no-process-env -- PATH and the like
  const child = spawn(process.execPath, command, { env: { ...process.env, WEBHOOK_CALLBACK_POLICY: 'public' } });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  child.stdout.resume();
  await once(child, 'close');
  expect(child.exitCode).toBe(1);
  expect(Buffer.concat(errors).toString()).toMatch(
    /NOT AS SPECIFIED\. Step 8 {2}The partner registers a callback URL[\s\S]*the callback URL is asked for proof/,
  );
});
