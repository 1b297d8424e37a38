import { type Database, sql } from '@deedwire/store';
import type { EventId } from '@deedwire/webhooks/tables';
import { groupIds } from './pages.ts';

// As of payloads, which have about the same size.
const eventsPerStatement = 3;
const daysOfEvents = 14;

/**
 * Returns what is stored of events. An event that is deleted has no entry.
 *
 * Served by the primary keys of the partitions, which the bounds of the ids select.
 */
export async function selectSnapshots(
  database: Database,
  ids: readonly EventId[],
): Promise<ReadonlyMap<EventId, unknown>> {
  const statement = sql('select-snapshots', 'for-values')`
      select id, snapshot
      from webhook_event
      where id = any ($1::bigint[]) and id between $2::bigint and $3::bigint`;
  const newestFirst = [...new Set(ids)].toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const snapshots = new Map<EventId, unknown>();
  for (const group of groupIds(newestFirst, eventsPerStatement, daysOfEvents)) {
    const rows = await database.query<{ id: EventId; snapshot: unknown }>(statement, [group, group.at(-1), group[0]]);
    for (const { id, snapshot } of rows) snapshots.set(id, snapshot);
  }
  return snapshots;
}
