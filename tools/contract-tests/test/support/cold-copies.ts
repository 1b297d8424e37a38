import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type PostgresServer, startPostgres } from '@deedwire/embedded-postgres';
import { temporaryFolder } from './temporary-folder.ts';

/** A server whose data directory can be copied while it is stopped, and started more than once. */
export interface CopiedPostgres {
  /** For a superuser, at the address of the first server. */
  url: string;
  /** Stops the server, copies its data, and starts it again. */
  copy(name: string): Promise<void>;
  stopFirst(): Promise<void>;
  /** Starts a server on a copy, or on `first`. Returns its URL. */
  start(name: string, port?: number): Promise<string>;
  close(): Promise<void>;
}

const password = 'copied';

export async function startCopiedPostgres(): Promise<CopiedPostgres> {
  const folder = await temporaryFolder('copies');
  const started: PostgresServer[] = [];
  const start = async (name: string, port: number | null = null): Promise<PostgresServer> => {
    const data = { directory: join(folder.path, name), password };
    const server = await startPostgres({ port, data, durable: false });
    started.push(server);
    return server;
  };
  let first = await start('first');
  const { url } = first;
  return {
    url,
    async copy(name) {
      await first.stop();
      // Keeps the owner.
      await promisify(execFile)('cp', ['-a', join(folder.path, 'first'), join(folder.path, name)]);
      first = await start('first', Number(new URL(url).port));
    },
    stopFirst: () => first.stop(),
    start: async (name, port) => (await start(name, port)).url,
    async close() {
      for (const server of started) await server.stop();
      await folder.remove();
    },
  };
}
