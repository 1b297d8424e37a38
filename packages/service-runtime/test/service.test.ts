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

test('is alive while it is not ready, says why, and becomes ready by itself and for good', async () => {
  let problems = ['the database is away'];
  let asked = 0;
  const service = await start({
    readiness: async () => {
      asked += 1;
      return problems;
    },
    handle: async (_, response, { ready }) => void response.end(JSON.stringify({ ready })),
  });
  expect(await get(`${service.url}/health`)).toEqual({ status: 200, body: { healthy: true } });
  await expect.poll(() => get(`${service.url}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: false });

  problems = [];
  await service.whenReady;
  problems = ['the database is away again'];
  expect(await get(`${service.url}/ready`)).toEqual({ status: 200, body: { ready: true, problems: [] } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: true });
  const askedUntilReady = asked;
  await sleep(600);
  expect(asked).toBe(askedUntilReady);
});

test('a readiness check that fails is a problem, not an end', async () => {
  const service = await start({ readiness: () => Promise.reject(new Error('with internal details')) });
  const problems = ['the readiness check failed, see the log'];
  await expect.poll(() => get(`${service.url}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
});

test('shows process metrics, and nothing where there is no handler', async () => {
  const service = await start();
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('process_cpu_seconds_total');
  expect((await get(`${service.url}/else`)).status).toBe(404);
});

test('a handler that throws is a 500 without its message', async () => {
  const service = await start({ handle: () => Promise.reject(new Error('with internal details')) });
  expect(await get(service.url)).toEqual({ status: 500, body: { error: 'Internal error.' } });
});

test('rejects when the port is taken, and lets go of everything', async () => {
  const { port } = await start();
  let closed = false;
  const config = { PORT: port, HOST: '127.0.0.1', LOG_LEVEL: 'silent' as const, NODE_ENV: 'test' as const };
  await expect(start({ config, close: async () => void (closed = true) })).rejects.toThrow('EADDRINUSE');
  expect(closed).toBe(true);
});

test('stops in order: unready, no new work, drained, what is in flight answered, closed', async () => {
  const steps: string[] = [];
  const inFlight = Promise.withResolvers<void>();
  const service = await start({
    config: { PORT: 0, HOST: '127.0.0.1', LOG_LEVEL: 'silent', NODE_ENV: 'test', SHUTDOWN_DELAY_MS: 300 },
    handle: async (_, response) => {
      await inFlight.promise;
      steps.push('answered');
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
  expect(steps).toEqual(['stopTakingWork', 'drained', 'answered', 'closed']);
});

test.each([
  ['nothing', ''],
  ['headers without an end', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['a body without an end, though it was answered', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody'],
])('stops though a client sends %s', async (_, sent) => {
  const service = await start();
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(sent);
  await fetch(`${service.url}/health`); // by then the server has read what was sent before
  await service.stop();
  await expect.poll(() => socket.closed).toBe(true);
});

test.each([
  ['nothing at all', ''],
  ['headers without an end', 'GET / HTTP/1.1\r\nHost: a\r\n'],
])('a client that sends %s is let go', async (_, sent) => {
  const server = createHttpServer((_request, response) => void response.end(), {
    ...httpLimits,
    headersTimeout: 100,
    connectionsCheckingInterval: 50,
  });
  const { port } = await listen(server, { PORT: 0, HOST: '127.0.0.1' });
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  server.close();
});
