import { findFreePort } from '@deedwire/embedded-postgres';
import { type HaproxyServer, readServers, statsFrontend } from './haproxy-servers.ts';
import { startProxyProcess } from './proxy-process.ts';

/** An HAProxy before the processes of apps. */
export interface Haproxy {
  /** Where clients send their requests, for example `http://127.0.0.1:4000`. */
  url: string;
  /** What HAProxy knows of each server, by `<app>/<server>`. */
  servers(): Promise<ReadonlyMap<string, HaproxyServer>>;
  stop(): Promise<void>;
}

/** The processes of an app. */
export interface HaproxyBackend {
  /** The name of the app. */
  name: string;
  /** The requests that it gets, by their path. Null for an app without clients, which is only watched. */
  path: string | null;
  servers: readonly { name: string; port: number; adminPort: number }[];
}

/**
 * Starts HAProxy, which has to be on the PATH. It sends requests to the processes whose admin port answers `GET /ready` with 200, and
 * asks each of them twice a second. It retries nothing, so that each connection that a process refuses fails a request.
 */
export async function startHaproxy(backends: readonly HaproxyBackend[]): Promise<Haproxy> {
  const [port, statsPort] = [await findFreePort(), await findFreePort()];
  const servers = (): Promise<ReadonlyMap<string, HaproxyServer>> => readServers(statsPort);
  const { stop } = await startProxyProcess('haproxy', configuration(backends, port, statsPort), servers);
  return { url: `http://127.0.0.1:${port}`, servers, stop };
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
    ...statsFrontend(statsPort),
    ...backends.flatMap(({ name, servers }) => [
      `backend ${name}`,
      ...servers.map((server) => `  server ${server.name} 127.0.0.1:${server.port} port ${server.adminPort}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}
