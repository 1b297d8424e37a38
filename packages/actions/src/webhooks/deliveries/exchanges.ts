import { nearestIdAt } from '@deedwire/domain';
import type { Database } from '@deedwire/store';
import type { DeliveryId, ReplayId } from '@deedwire/webhooks/tables';
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
// pages of its own. Each day costs 2 locks, and the body 2 more.
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
  const statement = {
    name,
    planning: 'for-values' as const,
    text: `
      select k.position::int, e.*
      from unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::bigint[], $5::bigint[])
        with ordinality as k (delivery_id, number, started_at, min_id, max_id, position)
      cross join lateral (
        select ${columns}
        from webhook_exchange
        where delivery_id = k.delivery_id and number = k.number and started_at = k.started_at
          and id between $6::bigint and $7::bigint and id between k.min_id and k.max_id
        limit 1
      ) e`,
  };
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
