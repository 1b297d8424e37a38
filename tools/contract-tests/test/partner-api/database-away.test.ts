import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, createHarness, type Harness } from './harness.ts';

let harness: Harness;
let proxy: Awaited<ReturnType<typeof createProxy>>;

beforeAll(async () => {
  harness = await createHarness();
  proxy = await createProxy(harness.databaseUrl);
});
afterAll(async () => {
  await harness.close();
  await proxy.close();
});

test('it starts without its database, says so, becomes ready by itself, and outlives the next time', async () => {
  await proxy.close();
  const service = await harness.start({ DATABASE_URL: proxy.url });
  const { credential } = harness.partner;
  const read = () => call(service, credential, '{ partner { name } }');
  const ready = async () => {
    const response = await fetch(`${service.url}/ready`);
    return [response.status, await response.json()];
  };
  const unavailable = async () => {
    const { status, headers, body } = await read();
    return [status, headers.get('retry-after'), body.errors?.[0]?.extensions.code, 'data' in body];
  };

  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  await expect.poll(ready).toEqual([503, { ready: false, problems: ['the database is not available: ECONNREFUSED'] }]);
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);

  await proxy.open();
  await service.whenReady;
  expect((await read()).body).toEqual({ data: { partner: { name: 'Partner' } } });

  await proxy.close();
  // At first the key is still known; the field finds the database gone.
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);
  await sleep(1000); // now the key is not known any more
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);
  expect((await call(service, harness.lender.credential, '{ partner { name } }')).status).toBe(403);
  expect(await ready()).toEqual([200, { ready: true, problems: [] }]);

  await proxy.open();
  await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe(200);
});

/** A way to the database that can be closed: new connections are refused, those there are broken. */
async function createProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async open() {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async close() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
