import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, ownDataDirectory } from '@deedwire/embedded-postgres';
import { eventually, runOnce } from '@deedwire/testing';
import { expect } from 'vitest';
import { createOwnedFolder, killAll, processesOfServer } from './owned-programs.ts';
import { postgresFolder } from './programs.ts';

/** A PostgreSQL 15 that archives its log. */
export interface ArchivedPostgres {
  /** For a superuser. */
  url: string;
  /** Makes the base backup, while the server runs. */
  backUp(): Promise<void>;
  /** The time of the server, to which `restore` can return. */
  now(): Promise<string>;
  /** Kills the server once what was committed so far is archived. */
  lose(): Promise<void>;
  /** Restores the base backup and the archive up to a time, and starts this server at the same address. */
  restore(time: string): Promise<void>;
  stop(): Promise<void>;
}

const program = (name: string): string => join(postgresFolder, name);

export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  const folder = await createOwnedFolder('deedwire-restore-');
  const [data, backup, archive] = ['data', 'backup', 'archive'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const password = randomBytes(24).toString('base64url');
  const port = await findFreePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | null = null;

  async function start(): Promise<void> {
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 200,
      jit: 'off',
      timezone: 'UTC',
      archive_mode: 'on',
      archive_command: `test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"`,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server = await folder.start('postgres', program('postgres'), ['-D', data, ...flags]);
    await eventually(async () =>
      expect(await run('select pg_is_in_recovery() as recovering')).toEqual([{ recovering: false }]),
    ).catch(async (cause: unknown) => {
      throw new Error(`PostgreSQL did not start.\n${await folder.logs()}`, { cause });
    });
  }

  const run = (statement: string) => runOnce(url, statement);

  async function kill(): Promise<void> {
    if (server === null) return;
    const ended = once(server, 'exit');
    server = null;
    await killAll(await processesOfServer(data));
    await ended;
  }

  async function stop(): Promise<void> {
    await kill();
    await folder.remove();
  }

  try {
    const passwordFile = join(folder.path, 'password');
    await writeFile(passwordFile, password);
    await mkdir(archive);
    await ownDataDirectory(archive);
    const locale = ['--encoding=UTF8', '--locale=C', '--data-checksums'];
    const login = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await folder.run(program('initdb'), [...locale, ...login, `--pgdata=${data}`]);
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    backUp: async () =>
      void (await folder.run(program('pg_basebackup'), [`--pgdata=${backup}`, '--checkpoint=fast', `--dbname=${url}`])),
    async now() {
      const [row] = await run('select clock_timestamp()::text as now');
      return String(row?.['now']);
    },
    async lose() {
      const [row] = await run('select pg_walfile_name(pg_switch_wal()) as segment');
      const last = String(row?.['segment']);
      await eventually(async () => {
        const [{ segment } = {}] = await run('select last_archived_wal as segment from pg_stat_archiver');
        expect(String(segment) >= last).toBe(true);
      });
      await kill();
      await rename(data, `${data}-lost`);
    },
    async restore(time) {
      await folder.run('cp', ['-a', backup, data]);
      const settings = {
        restore_command: `cp "${archive}/%f" "%p"`,
        recovery_target_time: time,
        recovery_target_action: 'promote',
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
      await appendFile(join(data, 'postgresql.auto.conf'), lines.join(''));
      await writeFile(join(data, 'recovery.signal'), '');
      await start();
    },
    stop,
  };
}
