import type { Database, Statement } from '@deedwire/store';
import { idRange } from '../../kernel/id-order.ts';
import type { EventId } from '../../kernel/ids.ts';
import { pgArray, pgTextArray } from '../../kernel/pg-array.ts';

// The limit keeps this a lookup per payload. A hash join would read all payloads between the first and the last id.
// webhook_payload by primary key, in the partitions between the first and the last id.
const selectPayloadsStatement: Statement = {
  name: 'select-payloads',
  text: `
    select r.number::int as number, p.body
    from unnest($1::bigint[], $2::text[]) with ordinality r (event_id, event_version, number)
    cross join lateral (
      select body
      from webhook_payload
      where event_id = r.event_id and event_version = r.event_version and event_id between $3 and $4
      limit 1
    ) p`,
};

/** Reads bodies in the order of `keys`. An element is undefined if there is no payload. */
export async function selectPayloads(
  database: Database,
  keys: readonly { eventId: EventId; eventVersion: string }[],
): Promise<(Buffer | undefined)[]> {
  const ids = keys.map(({ eventId }) => eventId);
  const versions = pgTextArray(keys.map(({ eventVersion }) => eventVersion));
  const values = [pgArray(ids), versions, ...idRange(ids)];
  const bodies = Array.from<Buffer | undefined>({ length: keys.length });
  for (const { number, body } of await database.query<{ number: number; body: Buffer }>(
    selectPayloadsStatement,
    values,
  )) {
    bodies[number - 1] = body;
  }
  return bodies;
}
