import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const command = ['--conditions=deedwire-source', join(import.meta.dirname, '../../src/demo.ts')];

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
