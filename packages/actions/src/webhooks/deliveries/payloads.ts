import type { Database } from '@deedwire/store';
import type { EventId } from '@deedwire/webhooks/tables';
import { groupIds } from './pages.ts';

/** The body of the deliveries of an event at a version. */
export interface PayloadKey {
  eventId: EventId;
  eventVersion: string;
}

// A body of 256 kB has about 130 pages of its own. An operation can pay for three of them. Each day costs 3 locks.
const payloadsPerStatement = 3;
const daysPerStatement = 14;

/**
 * Returns the bodies in the order of `keys`. An element is null if there is none: it could not be rendered, or was deleted.
 *
 * Served by webhook_payload_pkey. The bounds of the ids select the partitions.
 */
export async function selectShownPayloads(database: Database, keys: readonly PayloadKey[]): Promise<(string | null)[]> {
  const statement = {
    name: 'select-shown-payloads',
    planning: 'for-values' as const,
    text: `
      select k.event_id as "eventId", k.event_version as "eventVersion", p.body
      from unnest($1::bigint[], $2::text[]) as k (event_id, event_version)
      cross join lateral (
        select body
        from webhook_payload
        where event_id = k.event_id and event_version = k.event_version and event_id between $3::bigint and $4::bigint
        limit 1
      ) p`,
  };
  const versionsOf = Map.groupBy(keys, ({ eventId }) => eventId);
  const newestFirst = [...versionsOf.keys()].toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const bodies = new Map<string, string>();
  for (const ids of groupIds(newestFirst, payloadsPerStatement, daysPerStatement)) {
    const wanted = ids.flatMap((id) => versionsOf.get(id) ?? []);
    const values = [
      wanted.map(({ eventId }) => eventId),
      wanted.map(({ eventVersion }) => eventVersion),
      ids.at(-1),
      ids[0],
    ];
    const rows = await database.query<PayloadKey & { body: Buffer }>(statement, values);
    for (const row of rows) bodies.set(nameOf(row), row.body.toString('utf8'));
  }
  return keys.map((key) => bodies.get(nameOf(key)) ?? null);
}

function nameOf({ eventId, eventVersion }: PayloadKey): string {
  return `${eventId} ${eventVersion}`;
}
