/**
 * How PostgreSQL plans a statement. By default it is planned once, for any values.
 *
 * - `for-values`: planned at every execution. For statements that read a few partitions of a table: a plan for any values locks
 *   all partitions.
 * - `in-index-order`: likewise, and read from indexes in the order of the rows. For statements that read a page of a large table:
 *   PostgreSQL would read all rows that match and sort them, where it expects them to be few. Costs two more round trips.
 */
export type Planning = 'for-values' | 'in-index-order';

/** Opens a transaction that reads in the order of indexes. `off` means: only if there is no other way. */
export const beginInIndexOrder = `
  begin read only;
  set local idle_in_transaction_session_timeout = '10s';
  set local plan_cache_mode = force_custom_plan;
  set local enable_seqscan = off;
  set local enable_bitmapscan = off;
  set local enable_sort = off;
  set local enable_incremental_sort = off`;
