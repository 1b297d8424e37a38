import { randomBytes } from 'node:crypto';
import { startApp } from '@deedwire/dev-environment';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { startTcpProxy } from '@deedwire/testing';
import { expect, test } from 'vitest';

test('a worker is unready once the database has been unavailable for as long as it allows, and ready again afterwards', async () => {
  const database = await createMigratedDatabase();
  const proxy = await startTcpProxy(await database.urlFor('webhook_worker'));
  const { hostname, port, pathname, password } = new URL(proxy.url);
  const lines: string[] = [];
  const worker = await startApp({
    name: 'webhook-worker',
    folder: 'tools/test-service',
    onLine: (line) => lines.push(line),
    env: {
      DATABASE_URL: proxy.url,
      DATABASE_DIRECT_URL: '',
      WEBHOOK_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
      NODE_ENV: 'test',
      ADMIN_PORT: '0',
      WORKER_UNREADY_AFTER_MS: '1000',
    },
  });
  const ready = async () => {
    const response = await fetch(`${worker.adminUrl}/ready`);
    return [response.status, await response.json()];
  };
  expect(await ready()).toEqual([200, { ready: true, problems: [] }]);
  const served = lines.find((line) => line.includes('"serves a database"')) ?? '{}';
  expect(JSON.parse(served)).toMatchObject({ installation: 'service', database: `${hostname}:${port}${pathname}` });
  expect(lines.join('\n')).not.toContain(password);

  await proxy.close();
  const problem = 'the loop discover has failed for more than 1 s; see the log';
  await expect.poll(ready).toEqual([503, { ready: false, problems: expect.arrayContaining([problem]) }]);
  expect((await fetch(`${worker.adminUrl}/health`)).status).toBe(200);
  const metrics = await (await fetch(`${worker.adminUrl}/metrics`)).text();
  expect(
    Number(/^deedwire_worker_loop_failures_total\{loop="discover",cell="0"\} (\d+)$/m.exec(metrics)?.[1]),
  ).toBeGreaterThan(1);

  await proxy.open();
  await expect.poll(ready).toEqual([200, { ready: true, problems: [] }]);
  await worker.stop();
  await proxy.close();
  await database.drop();
});
