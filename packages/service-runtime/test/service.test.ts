import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { createHttpServer, httpLimits, listen } from '../src/http-server.ts';
import { createLogger, type RunningService, type ServiceOptions, startService } from '../src/index.ts';

const running: RunningService[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

async function start(options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  const service = await startService({
    config: { PORT: 0, HOST: '127.0.0.1', LOG_LEVEL: 'silent', NODE_ENV: 'test' },
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: new Registry(),
    readiness: async () => [],
    close: async () => {},
    ...options,
  });
  running.push(service);
  return service;
}

async function get(url: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.json() };
}

test('is healthy while unready, reports why, and stays ready once nothing is missing', async () => {
  let problems = ['the database is unavailable'];
  let checks = 0;
  const service = await start({
    readiness: async () => {
      checks += 1;
      return problems;
    },
    handle: async (_, response, { ready }) => void response.end(JSON.stringify({ ready })),
  });
  expect(await get(`${service.url}/health`)).toEqual({ status: 200, body: { healthy: true } });
  await expect.poll(() => get(`${service.url}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: false });

  problems = [];
  await service.whenReady;
  problems = ['the database is unavailable again'];
  expect(await get(`${service.url}/ready`)).toEqual({ status: 200, body: { ready: true, problems: [] } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: true });
  const checksUntilReady = checks;
  await sleep(600);
  expect(checks).toBe(checksUntilReady);
});

test('stays unready when the readiness check throws', async () => {
  const service = await start({ readiness: () => Promise.reject(new Error('with internal details')) });
  const problems = ['the readiness check failed; see the log'];
  await expect.poll(() => get(`${service.url}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
});

test('calls onReady once, when nothing is missing, and is ready when it has returned', async () => {
  const steps: string[] = [];
  const started = Promise.withResolvers<void>();
  let problems = ['the database is unavailable'];
  const service = await start({
    readiness: async () => problems,
    async onReady() {
      steps.push('onReady');
      await started.promise;
      steps.push('started');
    },
  });
  await expect.poll(() => get(`${service.url}/ready`)).toMatchObject({ body: { problems } });
  expect(steps).toEqual([]);

  problems = [];
  await expect.poll(() => steps).toEqual(['onReady']);
  expect((await fetch(`${service.url}/ready`)).status).toBe(503);
  started.resolve();
  await service.whenReady;
  expect((await fetch(`${service.url}/ready`)).status).toBe(200);
  await sleep(600);
  expect(steps).toEqual(['onReady', 'started']);
});

test('stays unready when onReady throws, and calls it again', async () => {
  let isBroken = true;
  let calls = 0;
  const logged: string[] = [];
  const service = await start({
    logger: createLogger({ name: 'test', level: 'error' }, { write: (line) => logged.push(line) }),
    async onReady() {
      calls += 1;
      if (isBroken) throw new Error('with internal details');
    },
  });
  const problems = ['the start failed; see the log'];
  await expect.poll(() => get(`${service.url}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
  expect(logged.join('')).toContain('with internal details');
  isBroken = false;
  await service.whenReady;
  expect(calls).toBeGreaterThan(1);
});

test('waits for an onReady in progress before it drains, and calls none afterwards', async () => {
  const steps: string[] = [];
  const started = Promise.withResolvers<void>();
  const service = await start({
    async onReady() {
      steps.push('onReady');
      await started.promise;
      steps.push('started');
    },
    drain: async () => void steps.push('drained'),
  });
  await expect.poll(() => steps).toEqual(['onReady']);
  const stopped = service.stop();
  await sleep(50);
  expect(steps).toEqual(['onReady']);
  started.resolve();
  await stopped;
  expect(steps).toEqual(['onReady', 'started', 'drained']);
});

test('does not call onReady when it is stopped during the check', async () => {
  const checked = Promise.withResolvers<readonly string[]>();
  let isStarted = false;
  const service = await start({ readiness: () => checked.promise, onReady: () => void (isStarted = true) });
  const stopped = service.stop();
  checked.resolve([]);
  await stopped;
  await sleep(0);
  expect(isStarted).toBe(false);
});

test('serves process metrics, and 404 without a handler', async () => {
  const service = await start();
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('process_cpu_seconds_total');
  expect((await get(`${service.url}/else`)).status).toBe(404);
});

test('returns 500 without the error message when the handler throws', async () => {
  const service = await start({ handle: () => Promise.reject(new Error('with internal details')) });
  expect(await get(service.url)).toEqual({ status: 500, body: { error: 'Internal error.' } });
});

test('rejects and closes when the port is in use', async () => {
  const { port } = await start();
  let closed = false;
  const config = { PORT: port, HOST: '127.0.0.1', LOG_LEVEL: 'silent' as const, NODE_ENV: 'test' as const };
  await expect(start({ config, close: async () => void (closed = true) })).rejects.toThrow('EADDRINUSE');
  expect(closed).toBe(true);
});

test('stops in order: unready, no new work, drained, requests in flight finished, closed', async () => {
  const steps: string[] = [];
  const inFlight = Promise.withResolvers<void>();
  const service = await start({
    config: { PORT: 0, HOST: '127.0.0.1', LOG_LEVEL: 'silent', NODE_ENV: 'test', SHUTDOWN_DELAY_MS: 300 },
    handle: async (_, response) => {
      await inFlight.promise;
      steps.push('responded');
      response.end('{}');
    },
    stopTakingWork: () => steps.push('stopTakingWork'),
    drain: async () => void steps.push('drained'),
    close: async () => void steps.push('closed'),
  });
  await service.whenReady;
  const slow = fetch(`${service.url}/slow`);
  const stopped = service.stop();
  const ready = await fetch(`${service.url}/ready`);
  expect(await ready.json()).toEqual({ ready: false, problems: ['stopping'] });
  expect(ready.headers.get('connection')).toBe('close');
  await expect.poll(() => steps).toEqual(['stopTakingWork', 'drained']);
  inFlight.resolve();
  expect((await slow).status).toBe(200);
  await stopped;
  expect(steps).toEqual(['stopTakingWork', 'drained', 'responded', 'closed']);
});

test.each([
  ['nothing', ''],
  ['headers without an end', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['a body without an end, after the response', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody'],
])('stops while a client sends %s', async (_, sent) => {
  const service = await start();
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(sent);
  await fetch(`${service.url}/health`); // by then, the server has read the bytes above
  await service.stop();
  await expect.poll(() => socket.closed).toBe(true);
});

test.each([
  ['nothing at all', ''],
  ['headers without an end', 'GET / HTTP/1.1\r\nHost: a\r\n'],
])('responds with 408 to a client that sends %s, and disconnects it', async (_, sent) => {
  const server = createHttpServer((_request, response) => void response.end(), {
    ...httpLimits,
    headersTimeout: 100,
    connectionsCheckingInterval: 50,
  });
  const { port } = await listen(server, { PORT: 0, HOST: '127.0.0.1' });
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  let received = '';
  for await (const chunk of socket) received += String(chunk);
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  server.close();
});
