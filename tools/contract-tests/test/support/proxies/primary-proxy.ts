import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '@deedwire/embedded-postgres';
import { readServers, statsFrontend } from './haproxy-servers.ts';
import { startProxyProcess } from './proxy-process.ts';

/** An HAProxy before the servers of a Patroni cluster. */
export interface PrimaryProxy {
  /** Leads to the primary. */
  port: number;
  stop(): Promise<void>;
}

export interface PatroniNode {
  name: string;
  /** Of PostgreSQL. */
  port: number;
  /** Of Patroni. */
  apiPort: number;
}

// Guards against hanging only.
const checkedWithinMs = 60_000;

/**
 * Starts HAProxy, which has to be on the PATH. It connects clients to the server that Patroni calls the primary, and ends their
 * connections as soon as Patroni no longer does.
 *
 * @param primaries how many it finds now: none in a standby cluster
 */
export async function startPrimaryProxy(nodes: readonly PatroniNode[], primaries = 1): Promise<PrimaryProxy> {
  const [port, statsPort] = [await findFreePort(), await findFreePort()];
  const { stop } = await startProxyProcess('haproxy', configuration(nodes, port, statsPort), () =>
    readServers(statsPort),
  );
  // Until its first checks, a standby gets connections too.
  const deadline = performance.now() + checkedWithinMs;
  for (;;) {
    const servers = [...(await readServers(statsPort)).values()];
    if (servers.filter(({ isDown }) => isDown).length === nodes.length - primaries) return { port, stop };
    if (performance.now() > deadline) {
      await stop();
      throw new Error(`HAProxy does not know the primary: ${JSON.stringify(servers)}`);
    }
    await sleep(50);
  }
}

/** `docs/operations/backup.md` shows the same settings. */
function configuration(nodes: readonly PatroniNode[], port: number, statsPort: number): string {
  const lines = [
    ...statsFrontend(statsPort),
    'listen postgres',
    `  bind 127.0.0.1:${port}`,
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    '  option httpchk GET /primary',
    '  http-check expect status 200',
    '  default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...nodes.map(({ name, port: server, apiPort }) => `  server ${name} 127.0.0.1:${server} port ${apiPort}`),
  ];
  return `${lines.join('\n')}\n`;
}
