import type { AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import type { Database, Transaction } from '../store.ts';

export interface PayloadInput {
  eventId: RecordId<'WebhookEvent'>;
  version: string;
  interfaceName: InterfaceName;
  body: Buffer;
}

export async function insertPayloads(database: Database, payloads: readonly PayloadInput[]): Promise<void> {
  const statement = {
    name: 'insert-payloads',
    text: `
      insert into webhook_payload (event_id, event_version, interface, body)
      select *
      from unnest($1::bigint[], $2::text[], $3::interface_name[], $4::bytea[])`,
  };
  await database.query(statement, [
    payloads.map(({ eventId }) => eventId),
    payloads.map(({ version }) => version),
    payloads.map(({ interfaceName }) => interfaceName),
    payloads.map(({ body }) => body),
  ]);
}

export interface DeliveryInput {
  subscriptionId: RecordId<'WebhookSubscription'>;
  eventId: RecordId<'WebhookEvent'>;
  version: string;
  sequence: bigint;
}

/** Makes deliveries that are due at once, and counts their lanes up. The lanes must be locked. */
export async function insertDeliveries(
  transaction: Transaction,
  account: { id: AccountId; interfaceName: InterfaceName },
  deliveries: readonly DeliveryInput[],
): Promise<void> {
  const statement = {
    name: 'insert-deliveries',
    text: `
      with inserted as (
        insert into webhook_delivery (subscription_id, account_id, interface, event_id, event_version, sequence)
        select d.subscription_id, $1, $2, d.event_id, d.event_version, d.sequence
        from unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[])
          as d (subscription_id, event_id, event_version, sequence)
        returning id, subscription_id, interface, sequence
      ),
      pending as (
        insert into webhook_pending_delivery (delivery_id, subscription_id, interface, sequence, due_at)
        select id, subscription_id, interface, sequence, now()
        from inserted
      )
      update webhook_lane l
      set last_sequence = i.last_sequence, due_at = least(l.due_at, now())
      from (select subscription_id, max(sequence) as last_sequence from inserted group by subscription_id) i
      where l.subscription_id = i.subscription_id`,
  };
  await transaction.query(statement, [
    account.id,
    account.interfaceName,
    deliveries.map(({ subscriptionId }) => subscriptionId),
    deliveries.map(({ eventId }) => eventId),
    deliveries.map(({ version }) => version),
    deliveries.map(({ sequence }) => sequence.toString()),
  ]);
  // Another worker may hold the lane.
  transaction.notifyAfterCommit();
}
