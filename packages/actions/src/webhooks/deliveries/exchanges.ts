import { nearestIdAt } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import type { DeliveryId, ReplayId, EventId } from '@deedwire/webhooks/tables';
import { groupIds } from './pages.ts';

/** An attempt as it was recorded. */
export interface AttemptKey {
  deliveryId: DeliveryId;
  number: number;
  startedAt: Date;
}

/** What an attempt sent and received, without the response body. Headers are names and values in turn. */
export type ExchangeRow = {
  /** Null if the subscription has another one since. */
  callbackUrl: string | null;
  requestHeaders: string[];
  remoteAddress: string | null;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  responseHeaders: string[];
  /** How many bytes of the body were read. */
  responseBytes: number;
  /** Null if no replay queued the delivery: also if a retry did. */
  replayId: ReplayId | null;
};

// A row is written within seconds of its attempt. A clock that is corrected meanwhile can move it.
const writtenWithinMs = 3_600_000;
// Each row costs about 3 buffers of an index and 1 of the table, and twice as many beside midnight; a body of 16 kB has about 12
// pages. Each day costs 2 locks, and the body 2 more.
const rowsPerStatement = 20;
const daysPerStatement = 10;

/** Returns the details of each attempt. Null if they were not kept. */
export function selectExchanges(database: Database, keys: readonly AttemptKey[]): Promise<(ExchangeRow | null)[]> {
  return selectOfEach<ExchangeRow>(
    database,
    'select-exchanges',
    `(
        select s.callback_url
        from webhook_subscription s
        where s.id = subscription_id
          and webhook_exchange.url_number between coalesce(s.callback_url_since, s.url_number) and s.url_number
      ) as "callbackUrl", request_headers as "requestHeaders", remote_address as "remoteAddress", dns_ms as "dnsMs",
      connect_ms as "connectMs", tls_ms as "tlsMs", first_byte_ms as "firstByteMs", response_headers as "responseHeaders",
      body_bytes as "responseBytes", (
        select r.id from webhook_replay r where r.id = replay_id and r.delivery_id is null
      ) as "replayId"`,
    keys,
  );
}

/** Returns the beginning of the response body of each attempt. Null if it was not kept. */
export async function selectResponseBodies(
  database: Database,
  keys: readonly AttemptKey[],
): Promise<(Buffer | null)[]> {
  const rows = await selectOfEach<{ body: Buffer | null }>(database, 'select-response-bodies', 'body', keys);
  return rows.map((row) => row?.body ?? null);
}

/**
 * Served by webhook_exchange_by_attempt. The bounds of the ids select the partitions: those of the statement when it is planned,
 * those of the attempt when it runs.
 */
async function selectOfEach<Row extends object>(
  database: Database,
  name: string,
  columns: string,
  keys: readonly AttemptKey[],
): Promise<(Row | null)[]> {
  const statement = sql(name, 'for-values')`
      select k.position::int, e.*
      from unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::bigint[], $5::bigint[])
        with ordinality as k (delivery_id, number, started_at, min_id, max_id, position)
      cross join lateral (
        select ${columns}
        from webhook_exchange
        where delivery_id = k.delivery_id and number = k.number and started_at = k.started_at
          and id between $6::bigint and $7::bigint and id between k.min_id and k.max_id
        limit 1
      ) e`;
  const results = keys.map((): Row | null => null);
  const entries = Array.from(keys, (key, index) => ({ ...key, index, ...boundsOf(key) }));
  entries.sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
  const ids = entries.map(({ maxId }) => maxId);
  for (const group of groupIds(ids, rowsPerStatement, daysPerStatement)) {
    const read = entries.splice(0, group.length);
    const rows = await database.query<Row & { position: number }>(statement, [
      read.map(({ deliveryId }) => deliveryId),
      read.map(({ number }) => number),
      read.map(({ startedAt }) => startedAt.toISOString()),
      read.map(({ minId }) => minId),
      read.map(({ maxId }) => maxId),
      read.at(-1)?.minId,
      read[0]?.maxId,
    ]);
    for (const row of rows) {
      const entry = read[row.position - 1];
      if (entry !== undefined) results[entry.index] = row;
    }
  }
  return results;
}

function boundsOf({ startedAt }: AttemptKey): { minId: string; maxId: string } {
  const idAfter = (ms: number): string => nearestIdAt(new Date(startedAt.getTime() + ms));
  return { minId: idAfter(-writtenWithinMs), maxId: idAfter(writtenWithinMs) };
}

/** A response body as a client sees it: a text, or bytes in Base64. Both are null if it was not kept. */
export interface ShownBody {
  text: string | null;
  base64: string | null;
}

/**
 * Control characters other than tabs and line breaks, of which U+0085 is one. Texts rarely contain them, and JSON needs six bytes for most. A terminal takes
 * U+009B, for example, as the beginning of an escape sequence.
 */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const unusualCharacters = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F]/;

/**
 * A body is a text if it is UTF-8 without unusual control characters.
 *
 * @param isCut the body continues, so it can end within a character, which is left out
 */
export function toShownBody(body: Buffer | null, isCut: boolean): ShownBody {
  if (body === null) return { text: null, base64: null };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: isCut });
  } catch {
    return { text: null, base64: body.toString('base64') };
  }
  return unusualCharacters.test(text) ? { text: null, base64: body.toString('base64') } : { text, base64: null };
}

/** The body of the deliveries of an event at a version. */
export interface PayloadKey {
  eventId: EventId;
  eventVersion: string;
}

// A body of 256 kB has about 130 pages. An operation can pay for three of them. Each day costs 3 locks.
const payloadsPerStatement = 3;
const daysOfPayloads = 14;

/**
 * Returns the bodies in the order of `keys`. An element is null if there is none: it could not be rendered, or was deleted.
 *
 * Served by webhook_payload_pkey. The bounds of the ids select the partitions.
 */
export async function selectShownPayloads(database: Database, keys: readonly PayloadKey[]): Promise<(string | null)[]> {
  const statement = sql('select-shown-payloads', 'for-values')`
      select k.event_id as "eventId", k.event_version as "eventVersion", p.body
      from unnest($1::bigint[], $2::text[]) as k (event_id, event_version)
      cross join lateral (
        select body
        from webhook_payload
        where event_id = k.event_id and event_version = k.event_version and event_id between $3::bigint and $4::bigint
        limit 1
      ) p`;
  const versionsOf = Map.groupBy(keys, ({ eventId }) => eventId);
  const newestFirst = [...versionsOf.keys()].toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const bodies = new Map<string, string>();
  for (const ids of groupIds(newestFirst, payloadsPerStatement, daysOfPayloads)) {
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
