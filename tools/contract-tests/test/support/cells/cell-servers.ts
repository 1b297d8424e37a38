import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@deedwire/embedded-postgres';
import { connect, eventually, runOnce } from '@deedwire/testing';
import { expect } from 'vitest';
import { createOwnedFolder, killAll, processesOfServer } from '../failover/owned-programs.ts';
import { postgresFolder } from '../failover/programs.ts';

/** A PostgreSQL 15 of this machine. */
export interface CellServer {
  name: string;
  /** For a superuser. */
  url: string;
  dataDirectory: string;
  run(statement: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  start(): Promise<void>;
  /** Without warning, as the loss of the machine. */
  kill(): Promise<void>;
  /** Holds a table of it until the returned function is called, so that a statement waits in the middle of a step. */
  hold(table: string): Promise<() => Promise<void>>;
}

export interface CellServers {
  primary: CellServer;
  /** Starts a standby of a server, which it reaches at a URL, and resolves when it streams under its name. */
  addStandby(name: string, of?: CellServer, from?: string): Promise<CellServer>;
  /** Runs a script as the owner of the servers, and resolves with its output. Rejects if it fails. */
  shell(script: string, env: Readonly<Record<string, string>>): Promise<string>;
  /** Starts a server that is a copy of none. */
  addPrimary(name: string): Promise<CellServer>;
  stop(): Promise<void>;
}

const program = (name: string): string => join(postgresFolder, name);
const settings = `max_wal_size = '64MB'\nwal_keep_size = '256MB'\nunix_socket_directories = ''\n`;

export async function startCellServers(): Promise<CellServers> {
  const folder = await createOwnedFolder('deedwire-cells-');
  const password = randomBytes(24).toString('base64url');
  const passwordFile = join(folder.path, 'password');
  await writeFile(passwordFile, password);
  const servers: CellServer[] = [];

  async function add(name: string, create: (dataDirectory: string) => Promise<unknown>): Promise<CellServer> {
    const [dataDirectory, port] = [join(folder.path, name), await findFreePort()];
    await create(dataDirectory);
    let child: ChildProcess | null = null;
    const server: CellServer = {
      name,
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      dataDirectory,
      run: (statement, values) => runOnce(server.url, statement, values),
      async hold(table) {
        const connection = await connect(server.url);
        await connection.run(`begin read write; lock table ${table} in access exclusive mode`);
        return () => connection.close();
      },
      async start() {
        child = await folder.start(`postgres-${name}`, program('postgres'), ['-D', dataDirectory, '-p', String(port)]);
        await eventually(async () => expect(await server.run('select 1 as ready')).toEqual([{ ready: 1 }])).catch(
          async (cause: unknown) => {
            throw new Error(`PostgreSQL did not start.\n${await folder.logs()}`, { cause });
          },
        );
      },
      async kill() {
        if (child === null) return;
        const ended = once(child, 'exit');
        child = null;
        await killAll(await processesOfServer(dataDirectory));
        await ended;
      },
    };
    servers.push(server);
    await server.start();
    return server;
  }

  async function stop(): Promise<void> {
    for (const server of servers) await server.kill();
    await folder.remove();
  }

  const addPrimary = (name: string) =>
    add(name, async (dataDirectory) => {
      await folder.run(program('initdb'), [
        '--encoding=UTF8',
        '--locale=C',
        '--username=postgres',
        '--auth=scram-sha-256',
        '--no-sync',
        `--pwfile=${passwordFile}`,
        `--pgdata=${dataDirectory}`,
      ]);
      await appendFile(join(dataDirectory, 'postgresql.conf'), settings);
    });
  try {
    const primary = await addPrimary('primary');
    return {
      primary,
      addPrimary,
      shell: (script, env) => folder.run('bash', ['-euc', script], env),
      async addStandby(name, of = primary, from = of.url) {
        const standby = await add(name, (dataDirectory) =>
          folder.run(program('pg_basebackup'), [
            '--write-recovery-conf',
            '--checkpoint=fast',
            '--no-sync',
            `--pgdata=${dataDirectory}`,
            `--dbname=${from}?application_name=${name}`,
          ]),
        );
        const streaming = `select from pg_stat_replication where application_name = $1 and state = 'streaming'`;
        await eventually(async () => expect(await of.run(streaming, [name])).toHaveLength(1));
        return standby;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
