import { onlyRow } from '@deedwire/store';
import type { Connection } from '@deedwire/testing';

// As fan-out and the worker do.
const insertFailures = `
  with subscription as (
    select * from webhook_subscription where callback_url = $1
  ), delivery as (
    insert into webhook_delivery
      (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
    select s.account_id, s.id, s.interface, new_record_id(), event_type, event_version, now(), last_sequence + n
    from subscription s
    join webhook_subscription_sequence on subscription_id = s.id
    cross join generate_series(1, $2::int) n
    cross join lateral (
      select event_type, event_version from webhook_subscription_event_type where subscription_id = s.id limit 1
    ) pin
    returning *
  ), payload as (
    insert into webhook_payload (event_id, event_version, interface, body)
    select event_id, event_version, interface, '{}' from delivery
  ), attempt as (
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
    select id, 1, subscription_id, interface, now(), 1, 500 from delivery
  ), sequence as (
    update webhook_subscription_sequence q set last_sequence = last_sequence + $2::int
    from subscription s
    where q.subscription_id = s.id
  ), failed as (
    insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
    select subscription_id, id, interface from delivery
  )
  select id::text from subscription`;

/** Stores deliveries of a subscription that failed once each. Returns the identifier of the subscription. */
export async function storeFailures(
  database: Pick<Connection, 'run'>,
  callbackUrl: string,
  deliveries: number,
): Promise<string> {
  const { id } = onlyRow(await database.run(insertFailures, [callbackUrl, deliveries]));
  return `gid://service/WebhookSubscription/${String(id)}`;
}
