import { DatabaseError } from 'pg';
import { isExhausted, StoreUnavailableError } from '../kernel/errors.ts';
import type { Store } from '../transactions/store.ts';

/** One sentence without a period, or null. */
export interface Growth {
  problem: string | null;
  /** Why it was not tried. */
  notTried: string | null;
}

class EndOfTrial extends Error {}

/** Lets the database, which is not read-only, grow by 8 MB, in a temporary table, and rolls back. It writes neither to other tablespaces nor much of the log. */
export async function tryGrowth(store: Store): Promise<Growth> {
  try {
    await store.transaction(async (transaction) => {
      const run = (name: string, text: string) => transaction.query({ name, text }, []);
      // Otherwise it would be the tablespace for temporary tables.
      await run(
        'trial-settings',
        `select set_config('temp_tablespaces', '', true), set_config('lock_timeout', '1s', true)`,
      );
      await run('trial-table', `create temporary table growth_trial (filler text) on commit drop`);
      // Rows are not compressed, and one fills a page.
      await run('trial-storage', `alter table growth_trial alter column filler set storage plain`);
      await run('trial-rows', `insert into growth_trial select repeat('x', 8000) from generate_series(1, 1024)`);
      throw new EndOfTrial();
    });
  } catch (error) {
    if (error instanceof EndOfTrial) return { problem: null, notTried: null };
    const cause = error instanceof StoreUnavailableError ? error.cause : error;
    if (!(cause instanceof DatabaseError)) throw error;
    if (isExhausted(cause))
      return {
        problem: `the database cannot grow by 8 MB: ${cause.message} (${cause.code}); see docs/operations/runbooks.md#the-disk-of-postgresql-is-full`,
        notTried: null,
      };
    // SQLSTATE insufficient_privilege.
    if (cause.code === '42501') return { problem: null, notTried: 'the login may not create temporary tables' };
    throw error;
  }
  throw new Error('The trial was committed.');
}
