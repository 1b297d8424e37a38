import { beginWith, type SessionSettings } from './session-settings.ts';

/**
 * How PostgreSQL plans a statement. By default it chooses: a plan for the values of each execution, or one for any values that a
 * connection keeps.
 *
 * - `for-values`: planned at every execution. For statements that read a few partitions of a table: a plan for any values locks
 *   all partitions. Not for a store with `plansOnceByIndexes`.
 * - `in-index-order`: likewise, and read from indexes in the order of the rows. For statements that read a page of a large table:
 *   PostgreSQL would read all rows that match and sort them, where it expects them to be few. Costs two more round trips.
 */
export type Planning = 'for-values' | 'in-index-order';

/** Settings to read in the order of indexes. `off` means: only if there is no other way. */
const inIndexOrder: SessionSettings = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
};

/** Begins a transaction that reads in the order of indexes, with these settings, in one round trip. */
export function beginInIndexOrder(settings: SessionSettings = {}): string {
  return beginWith({ ...settings, ...inIndexOrder }, 'begin read only');
}
