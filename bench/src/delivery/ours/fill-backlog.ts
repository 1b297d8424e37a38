import { Client } from 'pg';
import { event } from '../../event.ts';

/** Stores deliveries that are due, as a worker leaves them behind. Each has its own event. No worker may run. */
export async function fillBacklog(databaseUrl: string, deliveriesPerSubscription: number): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    await client.query(insertBacklog, [deliveriesPerSubscription, event]);
  } finally {
    await client.end();
  }
}

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
