import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { LockHolder } from '../kernel/migration-wait.ts';
import { openMigrationSession } from './migration-session.ts';

export interface WaitWatch {
  /** The session that may wait. */
  pid: number;
  /** How often to look. */
  everyMs: number;
  /** Called as long as it waits. */
  onWait: (holders: readonly LockHolder[]) => void;
}

/** Looks on another connection for what a session waits for, until `work` has ended. Never delays the end. */
export async function watchWaits<Result>(
  databaseUrl: string,
  { pid, everyMs, onWait }: WaitWatch,
  work: Promise<Result>,
): Promise<Result> {
  let watcher: Client | undefined;
  const watch = new AbortController();
  const look = async (): Promise<LockHolder[]> => {
    watcher ??= await openMigrationSession(databaseUrl, { lockMs: everyMs, signal: watch.signal });
    return selectLockHolders(watcher, pid);
  };
  try {
    const ended = work.then(() => true);
    while (!(await Promise.race([ended, sleep(everyMs, false, { ref: false })]))) {
      // The work goes on, whether it can be watched or not. A pooler can accept the connection and never serve it.
      const holders = await Promise.race([look().catch(() => []), ended.then(() => [])]);
      if (holders.length > 0) onWait(holders);
    }
    return await work;
  } finally {
    watch.abort();
  }
}

/** Without this session, for whose statement an index build waits if both run at the same moment. */
async function selectLockHolders(client: Client, waiting: number): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select blocking.pid, coalesce(a.usename, '') as login,
       coalesce(nullif(a.application_name, ''), nullif(a.backend_type, 'client backend'), '') as "applicationName", a.state,
       floor(extract(epoch from clock_timestamp() - a.xact_start))::int as seconds
     from unnest(pg_blocking_pids($1)) blocking (pid)
     left join pg_stat_activity a on a.pid = blocking.pid
     where (a.pid is not null or blocking.pid = 0) and blocking.pid <> pg_backend_pid()
     group by 1, 2, 3, 4, 5, a.xact_start
     order by a.xact_start
     limit 5`,
    [waiting],
  );
  return rows;
}
