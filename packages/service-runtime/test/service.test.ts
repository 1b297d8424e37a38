import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import {
  type ClientServer,
  createLogger,
  type HttpResponse,
  noAddresses,
  renderRefusal,
  type RunningServer,
  type RunningService,
  type ServiceOptions,
  startService,
} from '../src/index.ts';

const running: RunningService[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

const config = {
  ADMIN_PORT: 0,
  ADMIN_HOST: '127.0.0.1',
  LOG_LEVEL: 'silent',
  NODE_ENV: 'test',
  DEEDWIRE_COMMIT: '0123abc',
} as const;
const clientConfig = {
  PORT: 0,
  HOST: '127.0.0.1',
  MAX_CONNECTIONS: 100,
  MAX_CONNECTIONS_PER_ADDRESS: 100,
  MAX_CONNECTIONS_PER_CLIENT: 200,
  KEEP_ALIVE_TIMEOUT_MS: 65_000,
  TRUSTED_PROXIES: noAddresses,
};

const defaults = () => ({
  app: 'sample',
  servesAdmin: true,
  version: '1.2.3',
  config,
  logger: createLogger({ name: 'test', level: 'silent', service: testService }),
  metrics: new Registry(),
  readiness: async () => [],
  close: async () => {},
});

/** Starts a service without a server for clients. */
async function start(options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  const service = await startService({ ...defaults(), ...options });
  running.push(service);
  return service;
}

const json = (body: unknown): HttpResponse => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

async function startServer(
  handle: ClientServer['handle'],
  options: Partial<ServiceOptions> = {},
): Promise<RunningServer> {
  const clients = { config: clientConfig, handle, renderRefusal };
  const service = await startService({ ...defaults(), ...options, clients });
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
  const service = await startServer(async (_, { ready }) => json({ ready }), {
    readiness: async () => {
      checks += 1;
      return problems;
    },
  });
  expect(await get(`${service.adminUrl}/health`)).toEqual({ status: 200, body: { healthy: true } });
  await expect.poll(() => get(`${service.adminUrl}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: false });

  problems = [];
  await service.whenReady;
  problems = ['the database is unavailable again'];
  expect(await get(`${service.adminUrl}/ready`)).toEqual({ status: 200, body: { ready: true, problems: [] } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: true });
  const checksUntilReady = checks;
  await sleep(600);
  expect(checks).toBe(checksUntilReady);
});

test('is unready while work fails after the start, and serves its clients', async () => {
  let failures: string[] = [];
  const service = await startServer(async (_, { ready }) => json({ ready }), { failures: () => failures });
  await service.whenReady;
  failures = ['the loop sample has failed for more than 60 s; see the log'];
  expect(await (await fetch(`${service.adminUrl}/metrics`)).text()).toContain('\ndeedwire_ready 0\n');
  expect(await get(`${service.adminUrl}/ready`)).toEqual({ status: 503, body: { ready: false, problems: failures } });
  expect((await get(`${service.url}/else`)).body).toEqual({ ready: true });
  failures = [];
  expect(await get(`${service.adminUrl}/ready`)).toEqual({ status: 200, body: { ready: true, problems: [] } });
});

test('stays unready when the readiness check throws', async () => {
  const service = await start({ readiness: () => Promise.reject(new Error('with internal details')) });
  const problems = ['the readiness check failed; see the log'];
  await expect.poll(() => get(`${service.adminUrl}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
});

test('warns once, and has a metric, if the database can lose changes', async () => {
  const lines: { level: number; msg: string; risks: string[] }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let starts = 0;
  const service = await start({
    logger,
    risks: async () => [{ subject: 'fsync', description: 'PostgreSQL has fsync=off: a crash loses changes' }],
    onReady() {
      starts += 1;
      if (starts === 1) throw new Error('not yet');
    },
  });
  await service.whenReady;
  expect(lines.filter(({ msg }) => msg === 'the database puts rows or webhooks at risk')).toEqual([
    expect.objectContaining({ level: 40, risks: ['PostgreSQL has fsync=off: a crash loses changes'] }),
  ]);
  expect(await (await fetch(`${service.adminUrl}/metrics`)).text()).toContain(
    '\ndeedwire_database_risks{setting="fsync"} 1\n',
  );
});

test.each([
  [undefined, 1],
  ['https://docs.example', 0],
])('with DOCUMENTATION_URL %s it warns %i times', async (DOCUMENTATION_URL, count) => {
  const lines: { msg: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  await start({ logger, config: { ...config, DOCUMENTATION_URL } });
  expect(lines.filter(({ msg }) => msg.startsWith('DOCUMENTATION_URL is not set'))).toHaveLength(count);
});

const local = 'postgres://deedwire@127.0.0.1/deedwire';
test.each([
  ['a port of this machine', { DATABASE_URL: local }, [['DATABASE_URL']]],
  ['localhost', { DATABASE_URL: 'postgres://localhost/deedwire' }, [['DATABASE_URL']]],
  ['a direct one', { DATABASE_URL: 'postgres:///x?host=/run', DATABASE_DIRECT_URL: local }, [['DATABASE_DIRECT_URL']]],
  ['a Unix socket', { DATABASE_URL: 'postgres:///deedwire?host=/run/postgresql' }, []],
  ['a name with verified TLS', { DATABASE_URL: 'postgres://localhost/deedwire?sslmode=verify-full' }, []],
  ['a network that protects it', { DATABASE_URL: local, DATABASE_TLS: 'off' as const }, []],
  ['a test', { DATABASE_URL: local, NODE_ENV: 'test' as const }, []],
])('says once that the connection to %s is not encrypted', async (_, settings, expected) => {
  const lines: { msg: string; variables?: string[] }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  await start({ logger, config: { ...config, NODE_ENV: 'production', SHUTDOWN_DELAY_MS: 0, ...settings } });
  const found = lines.filter(({ msg }) => msg.startsWith('the connection to the database on this machine is not'));
  expect(found.map(({ variables }) => variables)).toEqual(expected);
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
  await expect.poll(() => get(`${service.adminUrl}/ready`)).toMatchObject({ body: { problems } });
  expect(steps).toEqual([]);

  problems = [];
  await expect.poll(() => steps).toEqual(['onReady']);
  expect((await fetch(`${service.adminUrl}/ready`)).status).toBe(503);
  started.resolve();
  await service.whenReady;
  expect((await fetch(`${service.adminUrl}/ready`)).status).toBe(200);
  await sleep(600);
  expect(steps).toEqual(['onReady', 'started']);
});

test('stays unready when onReady throws, and calls it again', async () => {
  let isBroken = true;
  let calls = 0;
  const logged: string[] = [];
  const service = await start({
    logger: createLogger(
      { name: 'test', level: 'error', service: testService },
      { write: (line) => logged.push(line) },
    ),
    async onReady() {
      calls += 1;
      if (isBroken) throw new Error('with internal details');
    },
  });
  const problems = ['the start failed; see the log'];
  await expect.poll(() => get(`${service.adminUrl}/ready`)).toEqual({ status: 503, body: { ready: false, problems } });
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

test('serves the process metrics', async () => {
  const service = await start({
    pools: { requests: () => ({ inUse: 3, idle: 2, waiting: 1, certificateEndsAt: new Date(86_400_000) }) },
  });
  await service.whenReady;
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
  expect(text).toContain('process_cpu_seconds_total');
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'deedwire_log_lines_dropped_total{kind="security"} 0',
      'deedwire_http_refused_connections_total{limit="total"} 0',
      'deedwire_build_info{app="sample",version="1.2.3",commit="0123abc"} 1',
      'deedwire_ready 1',
      'deedwire_database_connections{pool="requests",state="in_use"} 3',
      'deedwire_database_connections{pool="requests",state="idle"} 2',
      'deedwire_database_waiting{pool="requests"} 1',
      'deedwire_database_certificate_end_seconds{pool="requests"} 86400',
    ]),
  );
  expect(text).not.toMatch(/^nodejs_active_\w+_total/m);
});

test('serves health, readiness and metrics on the admin port only', async () => {
  const service = await startServer(async (request) => json({ handled: request.url }));
  for (const path of ['/health', '/ready', '/metrics']) {
    expect((await fetch(`${service.adminUrl}${path}`)).status).toBe(200);
    expect((await get(`${service.url}${path}`)).body).toEqual({ handled: path });
  }
  expect(await get(`${service.adminUrl}/else`)).toMatchObject({
    status: 404,
    body: {
      errors: [
        {
          message: 'This path does not exist. The paths are /health, /ready, /metrics.',
          extensions: { code: 'NOT_FOUND' },
        },
      ],
    },
  });
});

test('accepts only GET and HEAD on the admin port', async () => {
  const { adminUrl } = await start();
  const head = await fetch(`${adminUrl}/health`, { method: 'HEAD' });
  expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([200, '', '16']);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const response = await fetch(`${adminUrl}/health`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] });
  }
});

test('returns 500 without the error message when the handler throws, and raises an alarm', async () => {
  const service = await startServer(() => Promise.reject(new Error('with internal details')));
  const response = await fetch(service.url);
  expect([response.status, await response.json()]).toEqual([
    500,
    {
      errors: [
        {
          message: 'An internal error occurred.',
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: response.headers.get('x-request-id') },
        },
      ],
    },
  ]);
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  expect(metrics).toContain('\ndeedwire_alarms_total{alarm="request-broken"} 1\n');
});

test.each(['the port for clients', 'the admin port'])('rejects and closes when %s is in use', async (which) => {
  const first = await startServer(async () => json({}));
  const used = which === 'the admin port' ? Number(new URL(first.adminUrl).port) : first.port;
  let closed = false;
  const second = startService({
    ...defaults(),
    config: { ...config, ADMIN_PORT: which === 'the admin port' ? used : 0 },
    clients: {
      config: { ...clientConfig, PORT: which === 'the admin port' ? 0 : used },
      handle: async () => json({}),
      renderRefusal,
    },
    close: async () => void (closed = true),
  });
  await expect(second).rejects.toThrow('EADDRINUSE');
  expect(closed).toBe(true);
});

test('stops in order: unready, no new work, drained, requests in flight finished, closed', async () => {
  const steps: string[] = [];
  const arrived = Promise.withResolvers<void>();
  const inFlight = Promise.withResolvers<void>();
  const respond = async () => {
    arrived.resolve();
    await inFlight.promise;
    steps.push('responded');
    return json({});
  };
  const service = await startServer(respond, {
    config: { ...config, SHUTDOWN_DELAY_MS: 300 },
    stopAcceptingWork: () => steps.push('stopAcceptingWork'),
    drain: async () => void steps.push('drained'),
    close: async () => void steps.push('closed'),
  });
  await service.whenReady;
  const slow = fetch(`${service.url}/slow`);
  await arrived.promise;
  const stopped = service.stop();
  const ready = await fetch(`${service.adminUrl}/ready`);
  expect(await ready.json()).toEqual({ ready: false, problems: ['stopping'] });
  expect(ready.headers.get('connection')).toBe('close');
  await expect.poll(() => steps).toEqual(['stopAcceptingWork', 'drained']);
  inFlight.resolve();
  expect((await slow).status).toBe(200);
  await stopped;
  expect(steps).toEqual(['stopAcceptingWork', 'drained', 'responded', 'closed']);
});

test.each([
  ['nothing', ''],
  ['headers without an end', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['a body without an end, after the response', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody'],
])('stops while a client sends %s', async (_, sent) => {
  const service = await startServer(async () => json({}));
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(sent);
  await fetch(service.url); // by then, the server has read the bytes above
  await service.stop();
  await expect.poll(() => socket.closed).toBe(true);
});
