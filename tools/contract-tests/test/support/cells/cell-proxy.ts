import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '@deedwire/embedded-postgres';
import { missing } from '@deedwire/testing';
import { startProxyProcess } from '../proxies/proxy-process.ts';
import { workspaceRoot } from '../workspace-copy.ts';

/** Where the interfaces of a cell listen, by the first segment of their paths. */
export type CellPorts = Readonly<Record<string, { port: number; adminPort: number }>>;

/** An HAProxy with the shipped configuration. */
export interface CellProxy {
  url: string;
  /** The file with the cells of organizations that have moved. */
  map: string;
  /** Gives a line to its socket. Resolves with what it answers. */
  command(line: string): Promise<string>;
  /** Gives lines to its socket, and saves the map for its next start, as the page of cells says. */
  route(lines: readonly string[]): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/**
 * @param cells the ports of each cell, by its number, including of those that do not run yet
 * @param frontend a further line of the frontend
 */
export async function startCellProxy(cells: ReadonlyMap<number, CellPorts>, frontend = ''): Promise<CellProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'cell-proxy-'));
  const [map, socket, port] = [join(folder, 'cells.map'), join(folder, 'admin.sock'), await findFreePort()];
  await writeFile(map, '');
  const shipped = await readFile(join(workspaceRoot, 'deploy/haproxy/cells.cfg'), 'utf8');
  const backends = [...cells].flatMap(([cell, ports]) =>
    Object.entries(ports).map(
      ([name, { port: own, adminPort }]) => `backend ${name}-${cell}\n  server a 127.0.0.1:${own} port ${adminPort}\n`,
    ),
  );
  const [[first, ports] = missing()] = cells;
  const configuration = shipped
    .slice(0, shipped.search(/^backend /m))
    .replace(/default_backend .*/, `default_backend ${Object.keys(ports)[0]}-${first}`)
    .replaceAll('/etc/haproxy/cells.map', map)
    .replace('/run/haproxy/admin.sock', socket)
    .replace('bind :80', `bind 127.0.0.1:${port}\n  ${frontend}`)
    .replace('str 0 5', `str ${[...cells.keys()].join(' ')}`)
    .concat(...backends);
  const url = `http://127.0.0.1:${port}`;
  const command = async (line: string): Promise<string> => {
    const connection = connect(socket);
    connection.end(`${line}\n`);
    return (await text(connection)).trim();
  };
  // A second one would listen at the same port.
  let running: ReturnType<typeof startProxyProcess> | null = null;
  const proxy: CellProxy = {
    url,
    map,
    command,
    async route(lines) {
      for (const line of lines) {
        const answer = await command(line);
        if (answer !== '') throw new Error(`HAProxy answers ${answer}`);
      }
      const shown = await command(`show map ${map}`);
      await writeFile(map, shown.replaceAll(/^\S+ /gm, '').concat('\n'));
    },
    async kill() {
      const killed = await running;
      running = null;
      await killed?.stop();
    },
    async start() {
      running ??= startProxyProcess('haproxy', configuration, () => fetch(url));
      await running;
    },
    signal: (signal) => void running?.then((process) => process.signal(signal)),
    async stop() {
      await proxy.kill();
      await rm(folder, { recursive: true });
    },
  };
  await proxy.start();
  return proxy;
}
