import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { GuardCommand, GuardOptions, GuardReport } from './guard.ts';
import type { StopMode } from './server-process.ts';
import { fastTemporaryFolder } from './temporary-folder.ts';

export interface StartPostgresOptions {
  /** Null, the default, uses any free port. */
  port?: number | null;
  /**
   * Kept when the server stops. No other process may use it. If omitted, the server uses a temporary directory, which is in
   * memory unless the server is durable or memory is scarce.
   */
  data?: { directory: string; password: string };
  /** Flush commits to the disk. Defaults to true with `data`, and to false without it. */
  durable?: boolean;
}

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/**
 * Starts a PostgreSQL server that runs until `stop` or until this process ends. With `data`, the server is fully durable.
 * Without it, the server trades durability for speed, which is meant for tests. `durable` overrides that, for benchmarks.
 */
export async function startPostgres({ port = null, data, durable = data !== undefined }: StartPostgresOptions = {}) {
  const parent = durable ? tmpdir() : await fastTemporaryFolder();
  const temporaryDirectory = data ? null : await mkdtemp(join(parent, 'deedwire-postgres-'));
  const options: GuardOptions = {
    dataDirectory: data ? data.directory : join(temporaryDirectory ?? '', 'data'),
    temporaryDirectory,
    password: data ? data.password : randomBytes(24).toString('base64url'),
    port,
    durable,
  };
  const guard = fork(join(import.meta.dirname, `guard${extname(import.meta.filename)}`), {
    // Starts a new session: a signal to the process group of this process must not end the server before its clients.
    detached: true,
    execArgv: [],
  });
  const ended = watchEnd(guard);
  function send(command: GuardCommand): void {
    if (guard.connected) guard.send(command);
  }
  send({ command: 'start', options });
  const readyPort = await nextReady(guard);
  return {
    /** URL of the database `postgres` for the superuser. */
    url: `postgres://postgres:${options.password}@127.0.0.1:${readyPort}/postgres`,
    /** Stops the server and starts it on the same port. Rejects if the start fails. */
    async restart(mode: StopMode): Promise<void> {
      send({ command: 'restart', mode });
      await nextReady(guard);
    },
    async stop(): Promise<void> {
      send({ command: 'stop' });
      await ended;
    },
    /** The process that owns the server. If it is killed, the server runs until the next start on the same data. */
    guardPid: guard.pid ?? 0,
    /** Resolves when the server has ended: with null after `stop`, otherwise with the reason. */
    ended,
  };
}

async function watchEnd(guard: ChildProcess): Promise<string | null> {
  let reason: string | null = null;
  guard.on('message', (report: GuardReport) => {
    if (report.report === 'failed') reason = report.message;
  });
  await once(guard, 'exit');
  return reason;
}

async function nextReady(guard: ChildProcess): Promise<number> {
  const ended: GuardReport = { report: 'failed', message: 'The guard process of PostgreSQL ended.' };
  const [report = ended]: GuardReport[] = await Promise.race([
    once(guard, 'message'),
    once(guard, 'exit').then(() => [ended]),
  ]);
  if (report.report === 'failed') throw new Error(report.message);
  return report.port;
}
