import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startPostgres } from '@deedwire/embedded-postgres';
import { createStore, type Store } from '@deedwire/store';
import { Client, escapeIdentifier } from 'pg';
import { processFamilyCpuMs, processStat } from './process-cpu.ts';
import type { Defer } from './with-cleanup.ts';

/** What the server has used since it started. */
export interface StoreUsage {
  /** Null where the platform does not tell. */
  cpuMs: number | null;
  /** Null for a store that has no write-ahead log. */
  walBytes: number | null;
}

export type BenchPostgres = Awaited<ReturnType<typeof startBenchPostgres>>;

// Guard against hanging only. On a busy machine, opening a connection or waiting for a free one can take seconds.
const guardMs = 300_000;

/** The store with which a bench prepares its data. */
export function createBenchStore(databaseUrl: string): Store {
  return createStore({
    databaseUrl,
    applicationName: 'deedwire-bench',
    timeouts: { connectMs: guardMs, statementMs: guardMs, lockMs: guardMs, idleInTransactionMs: guardMs },
  });
}

const selectServer = `
  select pid::int as "backendPid", current_setting('data_directory') as "dataDirectory", current_setting('fsync') as fsync
  from pg_backend_pid() as pid`;

/**
 * Starts a server that flushes every commit to the disk.
 *
 * @param folder for its data. Omitted: a temporary one
 */
export async function startBenchPostgres(defer: Defer, folder?: string) {
  const password = randomBytes(24).toString('base64url');
  const data = folder === undefined ? {} : { data: { directory: join(folder, 'data'), password } };
  const server = await startPostgres({ durable: true, ...data });
  defer(() => server.stop());
  const connect = async () => {
    const client = new Client(server.url);
    client.on('error', () => {}); // the running statement rejects with the same error
    await client.connect();
    const { rows } = await client.query<{ backendPid: number; dataDirectory: string; fsync: string }>(selectServer);
    const { backendPid = 0, dataDirectory = '', fsync = '' } = rows[0] ?? {};
    if (fsync !== 'on') throw new Error(`fsync is ${fsync}.`);
    return { client, dataDirectory, serverPid: processStat(backendPid)?.parentPid };
  };
  let { client, dataDirectory, serverPid } = await connect();
  defer(() => client.end());
  /** Of the processes before the last restart. */
  let earlierCpuMs = 0;
  const cpuMs = () => {
    const ms = serverPid === undefined ? null : processFamilyCpuMs(serverPid);
    return ms === null ? null : ms + earlierCpuMs;
  };
  return {
    /** The file with the server's log. */
    logFile: `${dataDirectory}.log`,
    /** Ends all sessions, stops the server and starts it again. */
    async restart(): Promise<void> {
      await client.end();
      earlierCpuMs = cpuMs() ?? 0;
      await server.restart('fast');
      ({ client, dataDirectory, serverPid } = await connect());
    },
    /** Creates a database and returns its URL. */
    async createDatabase(name: string): Promise<string> {
      await client.query(`create database ${escapeIdentifier(name)}`);
      return new URL(`/${name}`, server.url).href;
    },
    async usage(): Promise<StoreUsage> {
      const result = await client.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
      return {
        cpuMs: cpuMs(),
        walBytes: Number(result.rows[0]?.bytes),
      };
    },
    /** Changes settings that need no restart. */
    async set(settings: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, value] of Object.entries(settings)) {
        await client.query(`alter system set ${escapeIdentifier(name)} = '${value}'`);
      }
      await client.query('select pg_reload_conf()');
    },
  };
}
