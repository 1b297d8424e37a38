import { type Database, sql } from '@deedwire/store';
import { clockStep, idsPerDay } from '@deedwire/webhooks/tables';
import type { PayloadKey } from '../deliveries/exchanges.ts';
import { type NumberedRow, selectNotRendered } from './statements.ts';

/** The bodies of a page have at most so many bytes. Escaping in JSON can double them, and a response has at most 1 MB. */
const pageBytesMax = 400_000;

/** The body of an event, exactly as every attempt sends it. Null if it could not be rendered, or is deleted. */
export type EventBody = string | null;

/** The bodies of a page, as far as they fit. */
export interface EventBodies {
  /** Of the first deliveries of the page: all, or those whose bodies fit, at least one. */
  bodies: EventBody[];
  /** The delivery after these has no body, although it must have one. */
  isMissing: boolean;
}

// Each body costs up to four buffers and its own pages. Each day costs 3 locks.
const daysPerStatement = 14;

/**
 * Reads the bodies of deliveries in their order until they have `bytesMax` together.
 *
 * A delivery without a body must have failed to render, be erased, or its event must have been deleted by retention.
 */
export async function selectEventBodies(
  database: Database,
  rows: readonly NumberedRow[],
  expiredBefore: bigint,
  bytesMax: number = pageBytesMax,
): Promise<EventBodies> {
  const bodies: (EventBody | undefined)[] = [];
  let bytesLeft = bytesMax;
  for (const group of groupNearEvents(rows)) {
    const read = await selectGroup(database, group, bytesLeft, bodies.length === 0);
    for (const { isKept, body } of read) {
      if (isKept && body === null) return settle(bodies);
      bytesLeft -= body?.length ?? 0;
      bodies.push(body === null ? undefined : body.toString('utf8'));
    }
  }
  return settle(bodies);

  /** Ends the page before a body that must not be missing. */
  async function settle(found: readonly (EventBody | undefined)[]): Promise<EventBodies> {
    const absent = rows.slice(0, found.length).filter((_, index) => found[index] === undefined);
    const lawful = await selectLawfullyAbsent(database, absent, expiredBefore);
    const unlawful = found.findIndex((body, index) => body === undefined && !lawful.has(rows[index]?.id));
    const proven = unlawful === -1 ? found : found.slice(0, unlawful);
    return { bodies: proven.map((body) => body ?? null), isMissing: unlawful !== -1 };
  }
}

/** Divides rows into groups whose events lie within few partitions. Keeps the order. */
function groupNearEvents(rows: readonly NumberedRow[]): NumberedRow[][] {
  const groups: { rows: NumberedRow[]; min: bigint; max: bigint }[] = [];
  for (const row of rows) {
    const day = BigInt(row.eventId) / idsPerDay;
    const group = groups.at(-1);
    const [min, max] = group ? [day < group.min ? day : group.min, day > group.max ? day : group.max] : [day, day];
    if (group === undefined || max - min >= BigInt(daysPerStatement)) groups.push({ rows: [row], min: day, max: day });
    else {
      group.rows.push(row);
      Object.assign(group, { min, max });
    }
  }
  return groups.map((group) => group.rows);
}

interface BodyRow {
  isKept: boolean;
  /** Null if there is none, or if it does not fit. */
  body: Buffer | null;
}

/**
 * Only the bodies that fit are read: the sum needs their sizes only.
 *
 * Served by webhook_payload_pkey. The bounds of the ids select the partitions.
 */
async function selectGroup(
  database: Database,
  keys: readonly PayloadKey[],
  bytesMax: number,
  isFirst: boolean,
): Promise<BodyRow[]> {
  const statement = sql('select-event-bodies', 'for-values')`
      select "isKept", case when bytes <= $5 or (number = 1 and $6) then body end as body
      from (
        select k.number, p.body is not null as "isKept", p.body,
          sum(coalesce(octet_length(p.body), 0)) over (order by k.number) as bytes
        from unnest($1::bigint[], $2::text[]) with ordinality as k (event_id, event_version, number)
        left join lateral (
          select body
          from webhook_payload
          where event_id = k.event_id and event_version = k.event_version and event_id between $3::bigint and $4::bigint
          limit 1
        ) p on true
      ) sized
      order by number`;
  const ids = keys.map(({ eventId }) => BigInt(eventId)).toSorted((a, b) => (a < b ? -1 : 1));
  return database.query<BodyRow & Record<string, unknown>>(statement, [
    keys.map(({ eventId }) => eventId),
    keys.map(({ eventVersion }) => eventVersion),
    ids[0],
    ids.at(-1),
    bytesMax,
    isFirst,
  ]);
}

/** Payloads are dropped a day after the deliveries of their day have expired. */
export function isDropped({ eventId }: NumberedRow, expiredBefore: bigint): boolean {
  return BigInt(eventId) < expiredBefore - clockStep;
}

async function selectLawfullyAbsent(
  database: Database,
  rows: readonly NumberedRow[],
  expiredBefore: bigint,
): Promise<ReadonlySet<string | undefined>> {
  const lawful = new Set<string | undefined>();
  const others: NumberedRow[] = [];
  for (const row of rows) {
    if (row.isErased || isDropped(row, expiredBefore)) lawful.add(row.id);
    else others.push(row);
  }
  for (let start = 0; start < others.length;) {
    const first = others[start];
    if (first === undefined) break;
    const min = BigInt(first.id) - clockStep;
    const before = BigInt(first.id) + BigInt(daysPerStatement - 2) * idsPerDay;
    const isNear = ({ id }: NumberedRow): boolean => BigInt(id) >= min && BigInt(id) < before;
    const far = others.findIndex((row, index) => index > start && !isNear(row));
    const end = far === -1 ? others.length : far;
    const ids = others.slice(start, end).map(({ id }) => id);
    for (const id of await selectNotRendered(database, ids, { min, before })) lawful.add(id);
    start = end;
  }
  return lawful;
}
