import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { startCellServers } from '../cells/cell-servers.ts';
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

export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  const servers = await startCellServers();
  const { primary } = servers;
  const data = primary.dataDirectory;
  const [backup, archive] = [`${data}-backup`, `${data}-archive`];
  const shell = (script: string) => servers.shell(script, {});
  await shell(`mkdir '${archive}'
cat >>'${data}/postgresql.conf' <<'SETTINGS'
max_connections = 200
jit = off
timezone = 'UTC'
archive_mode = on
archive_command = 'test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"'
SETTINGS`);
  await primary.kill();
  await primary.start();
  return {
    url: primary.url,
    backUp: async () =>
      void (await shell(`'${postgresFolder}/pg_basebackup' -D '${backup}' --checkpoint=fast -d '${primary.url}'`)),
    async now() {
      const [row] = await primary.run('select clock_timestamp()::text as now');
      return String(row?.['now']);
    },
    async lose() {
      const [row] = await primary.run('select pg_walfile_name(pg_switch_wal()) as segment');
      const last = String(row?.['segment']);
      await eventually(async () => {
        const [{ segment } = {}] = await primary.run('select last_archived_wal as segment from pg_stat_archiver');
        expect(String(segment) >= last).toBe(true);
      });
      await primary.kill();
    },
    async restore(time) {
      await shell(`rm -r '${data}'
cp -a '${backup}' '${data}'
touch '${data}/recovery.signal'
cat >>'${data}/postgresql.auto.conf' <<'SETTINGS'
restore_command = 'cp "${archive}/%f" "%p"'
recovery_target_time = '${time}'
recovery_target_action = 'promote'
SETTINGS`);
      await primary.start();
      await eventually(async () =>
        expect(await primary.run('select pg_is_in_recovery() as recovering')).toEqual([{ recovering: false }]),
      );
    },
    stop: () => servers.stop(),
  };
}
