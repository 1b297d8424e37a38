import { createHarness, type Harness, type TestAccount } from '@deedwire/dev-environment/harness';
import { idAt, timeOf, toRecordId } from '@deedwire/domain';
import type { RunningServer } from '@deedwire/service-runtime';
import { postGraphql } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let harness: Harness;
let service: RunningServer;

beforeAll(async () => {
  harness = await createHarness();
  service = await harness.startPartnerApi();
  await service.whenReady;
  await insertDeliveries();
});
afterAll(() => harness.close());

// As if the database had drawn them now: the history has no partition for other days.
const subscriptionId = BigInt(idAt(new Date()));
const firstId = subscriptionId + 1n;
const secondId = subscriptionId + 2n;

const fields = `id subscriptionId sequence sequenceNumber status createdAt attemptCount payload event { id type version timestamp } nextAttemptAt
  attempts { number startedAt durationMs responseStatus error }`;
const first = {
  id: `gid://service/WebhookDelivery/${firstId}`,
  subscriptionId: `gid://service/WebhookSubscription/${subscriptionId}`,
  sequence: 1,
  sequenceNumber: 1,
  createdAt: timeOf(toRecordId(String(firstId))).toISOString(),
  attemptCount: 22,
  payload: null,
  status: 'FAILED',
  event: {
    id: 'gid://service/WebhookEvent/1',
    type: 'referral.converted',
    version: '2026-11-01',
    timestamp: '2026-11-02T09:30:00.000Z',
  },
  nextAttemptAt: null,
  // A response holds only the latest 20 attempts, newest first. 22 exist.
  attempts: Array.from({ length: 20 }, (_, index) => ({
    number: 22 - index,
    startedAt: '2026-11-02T09:30:01.000Z',
    durationMs: 12,
    responseStatus: null,
    // As earlier and present builds store them: a name with a private address, and an address in the URL.
    error: ['DNS_FAILED', 'ADDRESS_FORBIDDEN'][index] ?? 'TIMEOUT',
  })),
};
const second = {
  ...first,
  id: `gid://service/WebhookDelivery/${secondId}`,
  sequence: 2,
  sequenceNumber: 2,
  attemptCount: 1,
  status: 'PENDING',
  event: { ...first.event, id: 'gid://service/WebhookEvent/2' },
  nextAttemptAt: '2026-11-02T10:00:00.000Z',
  attempts: [{ ...first.attempts[0], number: 1, responseStatus: 503, error: null }],
};

test('lists deliveries newest first, each with its attempts', async () => {
  expect(await read(`{ webhookDeliveries(first: 3) { nodes { ${fields} } } }`)).toEqual({
    webhookDeliveries: { nodes: [second, first] },
  });
});

test('filters deliveries by subscription and status', async () => {
  expect(await list('status: FAILED')).toEqual(found(first));
  expect(await list(`subscriptionId: "gid://service/WebhookSubscription/${subscriptionId}", first: 1`)).toEqual(
    found(second),
  );
  expect(await list('subscriptionId: "gid://service/WebhookSubscription/2"')).toEqual(found());
});

test('returns a delivery by its id only to its owner', async () => {
  const query = `{ webhookDelivery(id: "${first.id}") { ${fields} } }`;
  expect(await read(query)).toEqual({ webhookDelivery: first });
  const theirs = await send(query, harness.accounts.otherPartner);
  expect(theirs.body).toEqual({ data: { webhookDelivery: null }, extensions: expect.any(Object) });
});

const list = (filter: string) => read(`{ webhookDeliveries(${filter}) { nodes { id } } }`);
const found = (...deliveries: { id: string }[]) => ({
  webhookDeliveries: { nodes: deliveries.map(({ id }) => ({ id })) },
});

function send(query: string, { credential }: TestAccount) {
  return postGraphql(`${service.url}/partners/graphql`, credential, { query });
}

async function read(query: string): Promise<Record<string, unknown> | null | undefined> {
  const { body } = await send(query, harness.accounts.partner);
  expect(body).not.toHaveProperty('errors');
  return body.data;
}

/** Inserts a failed delivery and one that waits for a retry, as the webhook worker writes them. */
async function insertDeliveries(): Promise<void> {
  const accountId = harness.accounts.partner.accountId;
  const statements = [
    `insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
     values (${subscriptionId}, ${accountId}, 'partner', 'https://receiver.example/', '', 0)`,
    `insert into webhook_subscription_sequence (subscription_id, interface, last_sequence)
     values (${subscriptionId}, 'partner', 2)`,
    `insert into webhook_delivery
       (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select ${subscriptionId} + n, ${subscriptionId}, ${accountId}, 'partner', n, 'referral.converted', '2026-11-01',
       '2026-11-02T09:30:00Z', n
     from generate_series(1, 2) n`,
    `insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
     values (${subscriptionId}, ${firstId}, 'partner')`,
    `insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
        due_at, attempts, body_bytes)
     values (${subscriptionId}, ${secondId}, ${accountId}, 'partner', 2, 'referral.converted', '2026-11-01',
       '2026-11-02T09:30:00Z', 2, '2026-11-02T10:00:00Z', 1, 9)`,
    `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
     select ${firstId}, number, ${subscriptionId}, 'partner', '2026-11-02T09:30:01Z', 12,
       case number when 22 then 'ADDRESS_FORBIDDEN' when 21 then 'URL_FORBIDDEN' else 'TIMEOUT' end
     from generate_series(1, 22) number`,
    `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
     values (${secondId}, 1, ${subscriptionId}, 'partner', '2026-11-02T09:30:01Z', 12, 503)`,
  ];
  for (const statement of statements) await harness.sql(statement);
}
