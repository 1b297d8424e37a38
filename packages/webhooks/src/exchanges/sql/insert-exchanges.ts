import { type Database, sql } from '@deedwire/store';
import type { ExchangeDetails } from '@deedwire/webhook-sender';
import type { DeliveryId, ReplayId, SubscriptionId } from '../../kernel/ids.ts';
import { idRange, pgArray, pgTextArray } from '../../kernel/sql.ts';

// Not fenced: a reader compares the start of the attempt, so what a worker adds after it was declared dead is never shown.
// A URL can contain a secret, and deleting a subscription erases it. So only its number is stored, and nothing more after that.
// A worker that was stopped can add what it sent and received after the person was erased.
// webhook_subscription by primary key, webhook_delivery by primary key.
const insertStatement = sql('insert-exchanges')`
    insert into webhook_exchange (
      delivery_id, number, started_at, subscription_id, interface, url_number, replay_id, request_headers, remote_address,
      dns_ms, connect_ms, tls_ms, first_byte_ms, response_headers, body, body_bytes
    )
    select r.delivery_id, r.number, to_timestamp(r.started_ms / 1000.0::float8), r.subscription_id, s.interface,
      r.url_number, r.replay_id, string_to_array(r.request_headers, E'\\n'), r.remote_address, r.dns_ms, r.connect_ms,
      r.tls_ms, r.first_byte_ms, string_to_array(r.response_headers, E'\\n'), r.body, r.body_bytes
    from unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::text[], $8::text[], $9::int[],
      $10::int[], $11::int[], $12::int[], $13::text[], $14::bytea[], $15::int[])
      as r (delivery_id, number, started_ms, subscription_id, url_number, replay_id, request_headers, remote_address, dns_ms,
        connect_ms, tls_ms, first_byte_ms, response_headers, body, body_bytes)
    cross join lateral (
      select interface
      from webhook_subscription
      where id = r.subscription_id and deleted_at is null
      limit 1
    ) s
    where (select erased_at from webhook_delivery where id = r.delivery_id and id between $16 and $17 limit 1) is null`;

/** Inserts the details of attempts, unless the subscription is deleted or the person of the delivery is erased. */
export async function insertExchanges(database: Database, batch: readonly AttemptDetails[]): Promise<void> {
  const details = batch.map((exchange) => exchange.details);
  await database.query(insertStatement, [
    pgArray(batch.map(({ deliveryId }) => deliveryId)),
    pgArray(batch.map(({ number }) => number)),
    pgArray(batch.map(({ startedAt }) => startedAt.getTime())),
    pgArray(batch.map(({ subscriptionId }) => subscriptionId)),
    pgArray(batch.map(({ urlNumber }) => urlNumber)),
    pgArray(batch.map(({ replayId }) => replayId)),
    pgTextArray(details.map(({ requestHeaders }) => lines(requestHeaders))),
    pgTextArray(details.map(({ remoteAddress }) => remoteAddress)),
    pgArray(details.map(({ dnsMs }) => rounded(dnsMs))),
    pgArray(details.map(({ connectMs }) => rounded(connectMs))),
    pgArray(details.map(({ tlsMs }) => rounded(tlsMs))),
    pgArray(details.map(({ firstByteMs }) => rounded(firstByteMs))),
    pgTextArray(details.map(({ responseHeaders }) => lines(responseHeaders))),
    pgTextArray(details.map(({ responseBody }) => responseBody && `\\x${responseBody.toString('hex')}`)),
    pgArray(details.map(({ responseBytes }) => responseBytes)),
    ...idRange(batch.map(({ deliveryId }) => deliveryId)),
  ]);
}

/** The columns contain whole milliseconds. */
function rounded(ms: number | null): number | null {
  return ms && Math.round(ms);
}

/** HTTP allows no line break in the name or the value of a header. An array in an array would have to be escaped twice. */
function lines(headers: readonly string[]): string {
  return storable(headers.join('\n'));
}

/** PostgreSQL stores every character but U+0000, and one text would fail the whole statement. */
function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

/** The details of an attempt. */
export interface AttemptDetails {
  readonly deliveryId: DeliveryId;
  readonly subscriptionId: SubscriptionId;
  /** From 1. */
  readonly number: number;
  readonly startedAt: Date;
  /** See `LaneTarget`. */
  readonly urlNumber: number;
  /** The retry or replay that queued the delivery again. Null if fan-out queued it. */
  readonly replayId: ReplayId | null;
  readonly details: ExchangeDetails;
}
