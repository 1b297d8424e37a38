import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './sql-connection.ts';

/** Resolves as soon as `sessions` sessions of the database wait for a lock; rejects after two minutes. */
export async function untilBlocked(observer: Connection, sessions = 1): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  for (;;) {
    const rows = await observer.run(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length >= sessions) return;
    if (performance.now() > deadlineMs)
      throw new Error(`Expected ${sessions} sessions to wait for a lock, found ${rows.length}.`);
    await sleep(5);
  }
}
