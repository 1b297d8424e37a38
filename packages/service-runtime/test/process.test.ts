import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

type Child = ChildProcessByStdio<null, Readable, Readable>;

const program = fileURLToPath(new URL('sample-service.ts', import.meta.url));
const children: Child[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

// Without the cache, compiling the modules takes most of the time of each process.
const NODE_COMPILE_CACHE = process.env['NODE_COMPILE_CACHE'] ?? '';
const usable = { PORT: '0', HOST: '127.0.0.1', ADMIN_PORT: '0', NODE_ENV: 'test', NODE_COMPILE_CACHE };

function run(env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, ['--conditions=deedwire-source', program], {
    env: { ...usable, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

interface Line {
  msg: string;
  level: string;
  url?: string;
  adminUrl?: string;
  droppedLines?: number;
}

/** Collects the log lines of a process. Only a process that had to give up on its reader ends within a line. */
async function untilListening(child: Child): Promise<{ logged: Line[]; url: string; adminUrl: string }> {
  const logged: Line[] = [];
  createInterface(child.stdout).on('line', (line) => {
    if (line.endsWith('}')) logged.push(JSON.parse(line));
  });
  await expect.poll(() => logged.some(({ msg }) => msg === 'listening')).toBe(true);
  const { url = '', adminUrl = '' } = logged.find(({ msg }) => msg === 'listening') ?? {};
  return { logged, url, adminUrl };
}

async function untilClosed(child: Child): Promise<number | null> {
  if (child.exitCode === null || !child.stdout.closed) await once(child, 'close');
  return child.exitCode;
}

test('exits with 0 on a signal, even when it arrives twice', async () => {
  const child = run();
  const { logged, adminUrl } = await untilListening(child);
  expect((await fetch(`${adminUrl}/health`)).status).toBe(200);
  child.kill('SIGINT');
  child.kill('SIGINT');
  expect(await untilClosed(child)).toBe(0);
  expect(logged.map(({ msg }) => msg).filter((msg) => msg !== 'ready')).toEqual(['listening', 'stopping', 'stopped']);
});

test('exits with 1 and writes all problems to standard error when the configuration is invalid', async () => {
  const text = await errorsOf(run({ PORT: 'x', LOG_LEVEL: 'y' }));
  expect(text).toMatch(/^The configuration is invalid:\n {2}LOG_LEVEL must be .*\n {2}PORT must be .*\n$/);
});

async function errorsOf(child: Child): Promise<string> {
  let text = '';
  for await (const chunk of child.stderr) text += String(chunk);
  expect(await untilClosed(child)).toBe(1);
  return text;
}

test.each([
  ['HOST', 'HOST and PORT'],
  ['ADMIN_HOST', 'ADMIN_HOST and ADMIN_PORT'],
])('exits with 1 and names the variables when it cannot listen on %s', async (name, variables) => {
  const text = await errorsOf(run({ [name]: '192.0.2.1' }));
  expect(text).toBe(
    `The configuration is invalid:\n  ${variables} must name an address on which this process can listen: ` +
      'listen EADDRNOTAVAIL: address not available 192.0.2.1\n',
  );
});

const kubernetes = new URL('../../../deploy/kubernetes/apps/kustomization.yaml', import.meta.url);
const [, shipped = ''] = /ADMIN_HOST=([^'\n]+)/.exec(readFileSync(kubernetes, 'utf8')) ?? [];

test.each([shipped, '[::]'])('answers on IPv6 and IPv4: %s', async (host) => {
  const { url, adminUrl } = await untilListening(run({ HOST: '', ADMIN_HOST: host }));
  for (const listening of [url, adminUrl]) {
    const { port } = new URL(listening);
    for (const address of ['127.0.0.1', '[::1]'])
      expect((await fetch(`http://${address}:${port}/health`)).status).toBe(200);
  }
});

test('writes its last lines and the error when it crashes', async () => {
  const child = run();
  const { logged, url } = await untilListening(child);
  await fetch(`${url}/crash`).catch(() => {});
  expect(await untilClosed(child)).toBe(1);
  expect(logged.slice(-3)).toMatchObject([
    { msg: 'the last line' },
    { msg: 'uncaught error', level: 'fatal', err: { message: 'a bug' } },
    { msg: 'a later line' },
  ]);
});

// Each request logs 10 kB. The buffers of the pipe and of the process hold less than 2 MB.
const requests = 500;

/** Sends requests while nothing reads the log. */
async function stall(child: Child, url: string): Promise<void> {
  child.stdout.pause();
  for (let sent = 0; sent < requests; sent += 20) {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => fetch(url, { signal: AbortSignal.timeout(60_000) })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    await Promise.all(responses.map((response) => response.text()));
  }
}

test('while nothing reads its log, serves, counts and later reports the lines that it drops, and exits on SIGTERM', async () => {
  const child = run();
  const { logged, url, adminUrl } = await untilListening(child);
  await stall(child, url);
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const [, dropped] = /^deedwire_log_lines_dropped_total\{kind="other"\} (\d+)$/m.exec(metrics) ?? [];
  expect(Number(dropped)).toBeGreaterThan(0);

  child.stdout.resume();
  const reported = () => logged.reduce((sum, { droppedLines = 0 }) => sum + droppedLines, 0);
  await expect.poll(reported).toBe(Number(dropped));
  const written = logged.filter(({ msg }) => msg === 'request').length;
  expect(written + Number(dropped)).toBe(requests);

  await stall(child, url);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
