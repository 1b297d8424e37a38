import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { roleOf } from '@deedwire/core';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { createMigratedDatabase } from './harness/index.ts';

test('two interfaces and a worker in one program leave nothing open that keeps it from ending, and handle no signal', async () => {
  const database = await forTest(createMigratedDatabase());
  const environmentOf = async (role: 'webhook_worker' | `${string}_api`) => ({
    NODE_ENV: 'production',
    LOG_LEVEL: 'silent',
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: await database.urlFor(role),
    DATABASE_TIMEOUT_MS: '20000',
    DOCUMENTATION_URL: 'https://docs.example',
    WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  });
  const environments = {
    customer: await environmentOf(roleOf('customer')),
    supplier: await environmentOf(roleOf('supplier')),
    worker: await environmentOf('webhook_worker'),
  };
  const program = join(import.meta.dirname, 'one-process-program.ts');
  const child = spawn(process.execPath, ['--conditions=deedwire-source', program], {
    env: {
      APP_ENVIRONMENTS: JSON.stringify(environments),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(exitCode).toBe(0);
  const rounds = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rounds).toHaveLength(3);
  for (const { statuses, adminUrls, running, stopped, left } of rounds) {
    expect(statuses).toEqual([404, 404]);
    expect(adminUrls).toEqual(['', '', '']);
    for (const name of ['SIGTERM', 'SIGINT', 'uncaughtException', 'uncaughtExceptionMonitor'])
      expect(Object.keys(running)).not.toContain(name);
    expect(stopped).toEqual(running);
    expect(left).toEqual([]);
  }
  // What the first ones left, later ones share.
  expect(rounds[2].stopped).toEqual(rounds[0].stopped);
});
