import { withClient } from '@deedwire/embedded-postgres';
import { wholeNumber } from '../../report.ts';
import { event } from '../../signed-headers.ts';

const chunk = 250_000;

/**
 * Stores delivered deliveries of all subscriptions, from yesterday until a minute ago, with their attempts. 20 deliveries share
 * an event and its payload. Call it once per database.
 */
export async function fillHistory(
  databaseUrl: string,
  deliveries: number,
  progress: (line: string) => void,
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    // Checks no foreign keys, which halves the time.
    await client.query('set session_replication_role = replica');
    for (let from = 0; from < deliveries; from += chunk) {
      const to = Math.min(from + chunk, deliveries);
      await client.query(insertHistory, [from, to - 1, deliveries]);
      progress(`Stored ${wholeNumber(to)} of ${wholeNumber(deliveries)} deliveries`);
    }
    await client.query(countSequences, [deliveries]);
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  });
}

/** Stores deliveries that are due, as a worker leaves them behind. Each has its own event. No worker may run. */
export async function fillBacklog(databaseUrl: string, deliveriesPerSubscription: number): Promise<void> {
  await withClient(databaseUrl, (client) => client.query(insertBacklog, [deliveriesPerSubscription, event]));
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

const insertBacklog = `
  with subscription as materialized (
    select subscription_id, s.account_id, last_sequence
    from webhook_subscription s
    join webhook_subscription_sequence q on q.subscription_id = s.id
  ),
  event as (
    insert into webhook_event (account_id, interface, event_type, snapshot)
    select account_id, 'partner', 'referral.converted', '{}' from subscription, generate_series(1, $1::int)
    returning id, account_id, occurred_at
  ),
  payload as (
    insert into webhook_payload (event_id, event_version, interface, body)
    select id, '2027-02-01', 'partner', $2::bytea from event
  ),
  counted as (
    update webhook_subscription_sequence q set last_sequence = q.last_sequence + $1::int
    from subscription s
    where q.subscription_id = s.subscription_id
  ),
  delivery as (
    insert into webhook_delivery
      (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
    select s.account_id, subscription_id, 'partner', e.id, 'referral.converted', '2027-02-01', occurred_at,
      last_sequence + row_number() over (partition by subscription_id order by e.id)
    from subscription s
    join event e on e.account_id = s.account_id
    returning *
  )
  insert into webhook_pending_delivery
    (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, due_at,
      body_bytes)
  select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, now(),
    length($2::bytea)
  from delivery`;
