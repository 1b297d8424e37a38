import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GuardCommand, GuardOptions, GuardReport, StopMode } from './guard-protocol.ts';

export interface StartPostgresOptions {
  /** null: a free one. */
  port?: number | null;
  /** Kept when the server stops; nothing else may use it meanwhile. Without it: a temporary one, removed at the end. */
  data?: { directory: string; password: string };
}

export interface PostgresServer {
  /** Connects the superuser to the database `postgres`. */
  url: string;
  /** Stops and starts again on the same port. Rejects when the server does not come back. */
  restart(mode: StopMode): Promise<void>;
  stop(): Promise<void>;
  /** The process that owns the server; killing it leaves the server to the next start on its data. */
  guardPid: number;
  /** Resolves when the server is gone, by `stop` or by itself; the reason when by itself. */
  ended: Promise<string | null>;
}

/**
 * Starts a PostgreSQL server that lives as long as this process, or until `stop`. With a data directory of its own it
 * is as durable as PostgreSQL is; a temporary one trades durability for speed, for tests.
 */
export async function startPostgres({ port = null, data }: StartPostgresOptions = {}): Promise<PostgresServer> {
  const temporaryDirectory = data ? null : await mkdtemp(join(tmpdir(), 'deedwire-postgres-'));
  const options: GuardOptions = {
    dataDirectory: data ? data.directory : join(temporaryDirectory ?? '', 'data'),
    temporaryDirectory,
    password: data ? data.password : randomBytes(24).toString('base64url'),
    port,
    durable: data !== undefined,
  };
  const guard = fork(join(import.meta.dirname, 'guard.ts'), {
    // A session of its own: what ends this process' group must not end the server before its clients.
    detached: true,
    execArgv: [],
  });
  const ended = watchEnd(guard);
  function tell(command: GuardCommand): void {
    if (guard.connected) guard.send(command);
  }
  tell({ command: 'start', options });
  const readyPort = await nextReady(guard);
  return {
    url: `postgres://postgres:${options.password}@127.0.0.1:${readyPort}/postgres`,
    async restart(mode) {
      tell({ command: 'restart', mode });
      await nextReady(guard);
    },
    async stop() {
      tell({ command: 'stop' });
      await ended;
    },
    guardPid: guard.pid ?? 0,
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
  const gone: GuardReport = { report: 'failed', message: 'The guard of PostgreSQL ended' };
  const [report = gone]: GuardReport[] = await Promise.race([
    once(guard, 'message'),
    once(guard, 'exit').then(() => [gone]),
  ]);
  if (report.report === 'failed') throw new Error(report.message);
  return report.port;
}
