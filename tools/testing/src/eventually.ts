import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './sql-connection.ts';

/** Repeats `check` until it passes, and returns its result. Rejects with its last error after `withinMs`. */
export async function eventually<Result>(check: () => Promise<Result> | Result, withinMs = 120_000): Promise<Result> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      // A check that fails costs a query, and the text of its error.
      await sleep(50);
    }
  }
}

/** Resolves as soon as `sessions` sessions of the database wait for a lock; rejects after two minutes. */
export function untilBlocked(observer: Connection, sessions = 1): Promise<void> {
  return eventually(async () => {
    const rows = await observer.run(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length < sessions)
      throw new Error(`Expected ${sessions} sessions to wait for a lock, found ${rows.length}.`);
  });
}
