import type { ClientBase } from 'pg';
import { beginWith, type SessionSettings } from '../connections/session-settings.ts';
import { queryInTime } from './query-in-time.ts';

/**
 * How PostgreSQL plans a statement. By default it chooses: a plan for the values of each execution, or one for any values that a
 * connection keeps.
 *
 * - `for-values`: planned at every execution. For statements that read a few partitions of a table: a plan for any values locks
 *   all partitions. Not for a store with `plansOnceByIndexes`.
 * - `in-index-order`: likewise, and read from indexes in the order of the rows. For statements that read a page of a large table:
 *   PostgreSQL would read all rows that match and sort them, where it expects them to be few. Costs a round trip if the
 *   connection ran another statement before, and always two behind a transaction pooler.
 */
export type Planning = 'for-values' | 'in-index-order';

/** Settings to read in the order of indexes. `off` means: only if there is no other way. */
const inIndexOrder: SessionSettings = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  jit: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
};

const setInIndexOrder = Object.entries(inIndexOrder)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join('; ');
const resetPlanning = Object.keys(inIndexOrder)
  .map((name) => `reset ${name}`)
  .join('; ');

/** The connections that have the settings `inIndexOrder`. They keep them until a statement comes that needs others. */
const orderedConnections = new WeakSet<ClientBase>();

/** Whether the next statement on a connection would be planned in the order of indexes. */
export function plansInIndexOrder(client: ClientBase): boolean {
  return orderedConnections.has(client);
}

/**
 * Lets a connection plan its next statements in the order of indexes, or as it did at first.
 *
 * @throws {Error} as `queryInTime` does. The connection can no longer be used then.
 */
export async function setPlanning(client: ClientBase, isInIndexOrder: boolean, timeoutMs: number): Promise<void> {
  await queryInTime(client, { text: isInIndexOrder ? setInIndexOrder : resetPlanning }, timeoutMs);
  if (isInIndexOrder) orderedConnections.add(client);
  else orderedConnections.delete(client);
}

/** Begins a transaction for one statement in the order of indexes, with these settings, in one round trip. */
export function beginInIndexOrder(settings: SessionSettings = {}): string {
  return beginWith({ ...settings, ...inIndexOrder });
}
