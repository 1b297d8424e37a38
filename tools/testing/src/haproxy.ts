import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An HAProxy before the processes of apps. */
export interface Haproxy {
  /** Where clients send their requests, for example `http://127.0.0.1:4000`. */
  url: string;
  /** What HAProxy knows of each server, by `<app>/<server>`. */
  servers(): Promise<ReadonlyMap<string, HaproxyServer>>;
  stop(): Promise<void>;
}

export interface HaproxyServer {
  /** `/ready` has answered with 200. */
  isUp: boolean;
  /** Connections that the server refused or did not accept in time. */
  failedConnections: number;
  /** Requests without a complete response. */
  failedResponses: number;
}

/** The processes of an app. */
export interface HaproxyBackend {
  /** The name of the app. */
  name: string;
  /** The requests that it gets, by their path. Null for an app without clients, which is only watched. */
  path: string | null;
  servers: readonly { name: string; port: number; adminPort: number }[];
}

// Guards against hanging only.
const startWithinMs = 60_000;

/**
 * Starts HAProxy, which has to be on the PATH. It sends requests to the processes whose admin port answers `GET /ready` with 200, and
 * asks each of them twice a second. It retries nothing, so that each connection that a process refuses fails a request.
 */
export async function startHaproxy(backends: readonly HaproxyBackend[]): Promise<Haproxy> {
  const [port, statsPort] = [await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), 'haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration(backends, port, statsPort));
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      hasEnded = true;
      resolve();
    });
  });

  async function servers(): Promise<ReadonlyMap<string, HaproxyServer>> {
    const response = await fetch(`http://127.0.0.1:${statsPort}/;csv`);
    return readServers(await response.text());
  }

  const deadline = performance.now() + startWithinMs;
  while ((await servers().catch(() => null)) === null) {
    if (hasEnded || performance.now() > deadline) throw new Error(`HAProxy did not start:\n${output}`);
    await sleep(50);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    servers,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

function configuration(backends: readonly HaproxyBackend[], port: number, statsPort: number): string {
  const lines = [
    'defaults',
    '  mode http',
    '  timeout connect 10s',
    '  timeout client 60s',
    '  timeout server 60s',
    '  timeout check 10s',
    '  retries 0',
    '  option forwardfor',
    '  option httpchk GET /ready',
    '  default-server check inter 500ms fall 2 rise 1',
    'frontend clients',
    `  bind 127.0.0.1:${port}`,
    ...backends
      .filter(({ path }) => path !== null)
      .map(({ name, path }) => `  use_backend ${name} if { path ${path} }`),
    'frontend stats',
    `  bind 127.0.0.1:${statsPort}`,
    '  stats enable',
    '  stats uri /',
    ...backends.flatMap(({ name, servers }) => [
      `backend ${name}`,
      ...servers.map((server) => `  server ${server.name} 127.0.0.1:${server.port} port ${server.adminPort}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Reads the statistics in CSV. The first line has the names of the columns. */
function readServers(csv: string): ReadonlyMap<string, HaproxyServer> {
  const [header = '', ...rows] = csv.trim().split('\n');
  const names = header.replace(/^# /, '').split(',');
  const found = new Map<string, HaproxyServer>();
  for (const row of rows) {
    const values = new Map(row.split(',').map((value, index) => [names[index] ?? '', value]));
    const server = values.get('svname') ?? '';
    if (server === 'FRONTEND' || server === 'BACKEND') continue;
    found.set(`${values.get('pxname')}/${server}`, {
      isUp: values.get('status') === 'UP',
      failedConnections: Number(values.get('econ')),
      failedResponses: Number(values.get('eresp')),
    });
  }
  if (found.size === 0) throw new Error(`HAProxy has no servers:\n${csv}`);
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP port.');
  return address.port;
}
