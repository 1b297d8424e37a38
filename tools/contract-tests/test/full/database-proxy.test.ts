import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { startApp } from '@deedwire/dev-environment';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { enableTls, startPostgres, withClient } from '@deedwire/embedded-postgres';
import { eventually, findProgram, listen } from '@deedwire/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { startPageHaproxy } from '../support/proxies/page-haproxy.ts';

const isWithoutHaproxy = process.env['CI'] !== 'true' && findProgram('haproxy') === undefined;

const certificate = (name: string): string =>
  new URL(`../../../../packages/store/test/certificates/${name}.pem`, import.meta.url).pathname;

const ready = async (adminUrl: string): Promise<unknown> => (await fetch(`${adminUrl}/ready`)).json();

describe.skipIf(isWithoutHaproxy)('the recipe of HAProxy before PostgreSQL', async () => {
  if (isWithoutHaproxy) return;
  const server = await startPostgres();
  const present = (name: string) =>
    enableTls(server.url, { certificate: certificate(name), key: certificate('server-key') });
  await present('valid');
  const database = await createMigratedDatabase(server);
  // In the place of Patroni.
  const patroni = await listen(
    createServer((request, response) => response.writeHead(request.url === '/primary' ? 200 : 404).end()),
  );
  const proxy = await startRecipe(Number(new URL(server.url).port), patroni.port);
  afterAll(async () => {
    await proxy.stop();
    await patroni.close();
    // Stops the server.
    await database.drop();
  });

  /** The worker in production, through HAProxy. `localhost` is the name in `/etc/hosts`, and that of the certificate. */
  async function startWorker(search: string) {
    const url = new URL(await database.urlFor('webhook_worker'));
    url.hostname = 'localhost';
    url.port = String(proxy.port);
    url.search = search;
    const lines: string[] = [];
    const worker = await startApp({
      name: 'webhook-worker',
      folder: 'tools/test-service',
      waitFor: 'listening',
      onLine: (line) => void lines.push(line),
      env: {
        NODE_ENV: 'production',
        ADMIN_PORT: '0',
        DATABASE_URL: url.href,
        WEBHOOK_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
      },
    });
    return { worker, lines };
  }

  /** Whether the connections of the worker have TLS, as the server knows it. */
  const encryptions = () =>
    withClient(database.databaseUrl, async (client) => {
      const { rows } = await client.query<{ ssl: boolean }>(
        "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name like '%webhook-worker%'",
      );
      return rows.map(({ ssl }) => ssl);
    });
  const verified = `?sslmode=verify-full&sslrootcert=${certificate('ca')}`;

  test('an app verifies the server by its name', async () => {
    const { worker, lines } = await startWorker(verified);
    await eventually(async () => expect(await ready(worker.adminUrl)).toEqual({ ready: true, problems: [] }));
    expect(await encryptions()).toEqual([true]);
    expect(lines.join('\n')).not.toContain('is not encrypted');
    await worker.stop();
  });

  test('an app says that it sends clear text to this machine', async () => {
    const { worker, lines } = await startWorker('');
    await eventually(async () => expect(await ready(worker.adminUrl)).toEqual({ ready: true, problems: [] }));
    expect(await encryptions()).toEqual([false]);
    expect(lines.filter((line) => line.includes('is not encrypted'))).toHaveLength(1);
    await worker.stop();
  });

  test('an app names the host that it expects, and those of the certificate', async () => {
    await present('other-host');
    const { worker } = await startWorker(verified);
    await eventually(async () =>
      expect(JSON.stringify(await ready(worker.adminUrl))).toMatch(/ALTNAME_INVALID.*localhost.*DNS:db\.example\.com/),
    );
    await worker.stop();
  });
});

/** With one server. */
function startRecipe(postgresPort: number, patroniPort: number) {
  return startPageHaproxy(
    'backup.md',
    'listen postgres',
    (recipe, own) =>
      recipe
        .replace('127.0.0.1:5432', `127.0.0.1:${own}`)
        .replaceAll(/^ {2}server [bc] .*\n/gm, '')
        .replace('10.0.0.1:5432 port 8008', `127.0.0.1:${postgresPort} port ${patroniPort}`),
    withConnection,
  );
}

/** Rejects if nothing listens. */
async function withConnection(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}
