import { Client } from 'pg';
import { event } from '../../event.ts';

/**
 * Stores deliveries of the only subscription of an account that have failed after one attempt each. Each has its own event and
 * payload.
 */
export async function fillFailures(databaseUrl: string, accountId: string, deliveries: number): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    await client.query(insertFailures, [accountId, deliveries, event]);
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

const insertFailures = `
  with subscription as materialized (
    select subscription_id, s.account_id, last_sequence
    from webhook_subscription s
    join webhook_subscription_sequence q on q.subscription_id = s.id
    where s.account_id = $1
  ), counted as (
    update webhook_subscription_sequence q set last_sequence = q.last_sequence + $2::int
    from subscription s
    where q.subscription_id = s.subscription_id
  ), delivery as (
    insert into webhook_delivery
      (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
    select account_id, subscription_id, 'partner', new_record_id(), 'referral.converted', '2027-02-01', now(), last_sequence + n
    from subscription, generate_series(1, $2::int) n
    returning *
  ), event as (
    insert into webhook_event (id, account_id, interface, event_type, snapshot)
    select event_id, account_id, interface, event_type, '{}' from delivery
  ), payload as (
    insert into webhook_payload (event_id, event_version, interface, body)
    select event_id, event_version, interface, $3::bytea from delivery
  ), attempt as (
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
    select id, 1, subscription_id, interface, now(), 20, 500 from delivery
  )
  insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
  select subscription_id, id, interface from delivery`;
