import { idAt, type InterfaceName } from '@deedwire/core';
import type { Harness, TestAccount } from '@deedwire/dev-environment/harness';

/** Of a harness of any service. */
type Sql = Pick<Harness, 'sql'>;

/** A subscription of an account, with deliveries that a test inserts as the worker writes them. */
export interface StoredSubscription {
  id: bigint;
  gid: string;
  account: TestAccount;
  interfaceName: InterfaceName;
}

export interface StoredDelivery {
  id: bigint;
  gid: string;
  eventId: bigint;
  sequence: number;
}

let drawn = 0n;

/** As if the database had drawn the id now: the history has no partition for most other days. */
function drawId(at: Date): bigint {
  return BigInt(idAt(at)) + (drawn += 1n);
}

export async function insertSubscription(
  harness: Sql,
  interfaceName: InterfaceName,
  account: TestAccount,
): Promise<StoredSubscription> {
  const id = drawId(new Date());
  await harness.sql(
    `insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
     values (${id}, ${account.accountId}, '${interfaceName}', 'https://receiver.example/', '', 0)`,
  );
  await harness.sql(
    `insert into webhook_subscription_sequence (subscription_id, interface, last_sequence)
     values (${id}, '${interfaceName}', 1)`,
  );
  return { id, gid: `gid://service/WebhookSubscription/${id}`, account, interfaceName };
}

/** Inserts a listener that was just read. Returns its global identifier. */
export async function insertListener(
  harness: Sql,
  interfaceName: InterfaceName,
  { accountId }: TestAccount,
): Promise<string> {
  const id = drawId(new Date());
  await harness.sql(
    `insert into webhook_subscription (id, account_id, interface, kind, callback_url, secret_ciphertext, paused_reason,
       paused_at, owner_paused_at, last_read_at, queue_position)
     values (${id}, ${accountId}, '${interfaceName}', 'LISTENER', '', '', 'OWNER', now(), now(), now(), 0)`,
  );
  await harness.sql(
    `insert into webhook_subscription_sequence (subscription_id, interface) values (${id}, '${interfaceName}')`,
  );
  return `gid://service/WebhookListener/${id}`;
}

/** Inserts a delivery without attempts and with the status DELIVERED, because it is in no other table. */
export async function insertDelivery(
  harness: Sql,
  { id: subscriptionId, account, interfaceName }: StoredSubscription,
  { sequence = 1, eventType = 'webhook.test', createdAt = new Date(), recordId = 'null' } = {},
): Promise<StoredDelivery> {
  const [id, eventId] = [drawId(createdAt), drawId(createdAt)];
  await harness.sql(
    `insert into webhook_delivery
       (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, record_id)
     values (${id}, ${subscriptionId}, ${account.accountId}, '${interfaceName}', ${eventId}, '${eventType}', '2026-11-01',
       '2026-11-02T09:30:00Z', ${sequence}, ${recordId})`,
  );
  return { id, gid: `gid://service/WebhookDelivery/${id}`, eventId, sequence };
}

/** Inserts the event of a delivery. Nothing fans it out. */
export async function insertEvent(harness: Sql, { id }: StoredDelivery): Promise<void> {
  await harness.sql(
    `insert into webhook_event (id, account_id, interface, event_type, snapshot, record_id)
     select event_id, account_id, interface, event_type, '{}', record_id from webhook_delivery where id = ${id}`,
  );
}

/** Inserts attempts that received a response with these statuses. */
export async function insertAttempts(
  harness: Sql,
  { id: subscriptionId, interfaceName }: StoredSubscription,
  { id }: StoredDelivery,
  statuses: readonly number[],
  startedAt = new Date('2026-11-02T09:30:01Z'),
): Promise<void> {
  for (const [index, status] of statuses.entries()) {
    await harness.sql(
      `insert into webhook_attempt
         (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
       values (${id}, ${index + 1}, ${subscriptionId}, '${interfaceName}', '${startedAt.toISOString()}', 12, ${status})`,
    );
  }
}

/** Inserts the details of the first attempt of a delivery. Its headers are `a: b`. */
export async function insertExchange(
  harness: Sql,
  { id: subscriptionId, interfaceName }: StoredSubscription,
  { id }: StoredDelivery,
  body: Buffer,
): Promise<void> {
  await harness.sql(
    `insert into webhook_exchange (delivery_id, number, started_at, subscription_id, interface, url_number, request_headers,
       response_headers, body, body_bytes)
     select ${id}, 1, started_at, ${subscriptionId}, '${interfaceName}', 1, '{a,b}', '{a,b}',
       '\\x${body.toString('hex')}', ${body.length}
     from webhook_attempt where delivery_id = ${id} and number = 1`,
  );
}

/** Inserts the body of a delivery. */
export async function insertPayload(
  harness: Sql,
  { interfaceName }: StoredSubscription,
  { eventId }: StoredDelivery,
  body: Buffer,
): Promise<void> {
  await harness.sql(
    `insert into webhook_payload (event_id, event_version, interface, body)
     values (${eventId}, '2026-11-01', '${interfaceName}', '\\x${body.toString('hex')}')`,
  );
}

/** Makes a delivery PENDING, as after this number of attempts. */
export async function insertPending(
  harness: Sql,
  { id: subscriptionId, account, interfaceName }: StoredSubscription,
  { id, eventId, sequence }: StoredDelivery,
  { attempts = 0, dueInSeconds = 0 } = {},
): Promise<void> {
  await harness.sql(
    `insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
        due_at, attempts, body_bytes)
     values (${subscriptionId}, ${id}, ${account.accountId}, '${interfaceName}', ${eventId}, 'webhook.test', '2026-11-01',
       '2026-11-02T09:30:00Z', ${sequence}, now() + ${dueInSeconds} * interval '1 second', ${attempts}, 9)`,
  );
}

/** Inserts a replay that runs. Returns its identifier. */
export async function insertReplay(
  harness: Sql,
  { id: subscriptionId, account, interfaceName }: StoredSubscription,
): Promise<string> {
  const id = drawId(new Date());
  await harness.sql(
    `insert into webhook_replay (id, account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id)
     values (${id}, ${account.accountId}, '${interfaceName}', ${subscriptionId}, true, 50, 0, ${id}, 0)`,
  );
  return `gid://service/WebhookReplay/${id}`;
}
