import { Client } from 'pg';

const chunk = 250_000;

/**
 * Stores delivered deliveries of all subscriptions, from yesterday until a minute ago, with their attempts. 20 deliveries share
 * an event and its payload. Call it once per database.
 */
export async function fillHistory(
  databaseUrl: string,
  deliveries: number,
  progress: (stored: number) => void,
): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    // Checks no foreign keys, which halves the time.
    await client.query('set session_replication_role = replica');
    for (let from = 0; from < deliveries; from += chunk) {
      const to = Math.min(from + chunk, deliveries);
      await client.query(insertHistory, [from, to - 1, deliveries]);
      progress(to);
    }
    await client.query(countSequences, [deliveries]);
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

// An id is the milliseconds since 2026 and 22 more bits. $3 deliveries are spread evenly over the time.
const insertHistory = `
  with period as (
    select extract(epoch from date_trunc('day', now(), 'UTC') - interval '1 day' - timestamptz '2026-01-01Z') * 1000 as start_ms,
      extract(epoch from now() - interval '1 minute' - date_trunc('day', now(), 'UTC') + interval '1 day') * 1000 as length_ms
  ),
  subscription as (select array_agg(id) as ids, array_agg(account_id) as accounts, count(*) as count from webhook_subscription),
  delivery as materialized (
    select i, (start_ms + length_ms * i / $3::bigint)::bigint << 22 as id,
      (start_ms + length_ms * (i / 20 * 20) / $3::bigint)::bigint << 22 as event_id,
      ids[i % count + 1] as subscription_id, accounts[i % count + 1] as account_id, i / count + 1 as sequence
    from generate_series($1::bigint, $2::bigint) i, period, subscription
  ),
  event as (
    insert into webhook_event (id, account_id, interface, event_type, snapshot)
    select event_id, account_id, 'partner', 'referral.converted', '{}' from delivery where i % 20 = 0
  ),
  payload as (
    insert into webhook_payload (event_id, event_version, interface, body)
    select event_id, '2027-02-01', 'partner', decode(repeat('7b7d', 177), 'hex') from delivery where i % 20 = 0
  ),
  attempt as (
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
    select id, 1, subscription_id, 'partner', now(), 20, 200 from delivery
  )
  insert into webhook_delivery
    (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
  select id, account_id, subscription_id, 'partner', event_id, 'referral.converted', '2027-02-01', now(), sequence
  from delivery`;

const countSequences = `
  update webhook_subscription_sequence
  set last_sequence = $1::bigint / (select count(*) from webhook_subscription) + 1`;
