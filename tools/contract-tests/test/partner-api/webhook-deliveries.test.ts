import { createHarness, type Harness, type TestAccount } from '@deedwire/dev-environment/harness';
import type { RunningService } from '@deedwire/service-runtime';
import { postGraphql } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let harness: Harness;
let service: RunningService;

beforeAll(async () => {
  harness = await createHarness();
  service = await harness.startPartnerApi();
  await service.whenReady;
  await insertDeliveries();
});
afterAll(() => harness.close());

const fields = `id sequence status event { id type version timestamp } nextAttemptAt
  attempts { number startedAt durationMs responseStatus error }`;
const first = {
  id: 'gid://service/WebhookDelivery/1',
  sequence: 1,
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
    error: 'TIMEOUT',
  })),
};
const second = {
  ...first,
  id: 'gid://service/WebhookDelivery/2',
  sequence: 2,
  status: 'PENDING',
  event: { ...first.event, id: 'gid://service/WebhookEvent/2' },
  nextAttemptAt: '2026-11-02T10:00:00.000Z',
  attempts: [{ ...first.attempts[0], number: 1, responseStatus: 503, error: null }],
};

test('lists deliveries newest first, each with its attempts', async () => {
  expect(await read(`{ webhookDeliveries { nodes { ${fields} } } }`)).toEqual({
    webhookDeliveries: { nodes: [second, first] },
  });
});

test('filters deliveries by subscription and status', async () => {
  expect(await list('status: FAILED')).toEqual(found(first));
  expect(await list('subscriptionId: "gid://service/WebhookSubscription/1", first: 1')).toEqual(found(second));
  expect(await list('subscriptionId: "gid://service/WebhookSubscription/2"')).toEqual(found());
});

test('returns a delivery by its id only to its owner', async () => {
  const query = `{ webhookDelivery(id: "${first.id}") { ${fields} } }`;
  expect(await read(query)).toEqual({ webhookDelivery: first });
  const theirs = await send(query, harness.accounts.otherPartner);
  expect(theirs.body).toEqual({ data: { webhookDelivery: null } });
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
    `insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext)
     values (1, ${accountId}, 'partner', 'https://receiver.example/', '')`,
    `insert into outbox_event (id, account_id, interface, event_type, snapshot, occurred_at, fanned_out_at)
     select id, ${accountId}, 'partner'::interface_name, 'referral.converted', '{}', timestamptz '2026-11-02T09:30:00Z', now()
     from generate_series(1, 2) id`,
    `insert into webhook_delivery (id, subscription_id, account_id, interface, event_id, event_version, sequence, status)
     values (1, 1, ${accountId}, 'partner', 1, '2026-11-01', 1, 'FAILED'),
            (2, 1, ${accountId}, 'partner', 2, '2026-11-01', 2, 'PENDING')`,
    `insert into webhook_pending_delivery (delivery_id, subscription_id, interface, sequence, due_at)
     values (2, 1, 'partner', 2, '2026-11-02T10:00:00Z')`,
    `insert into webhook_attempt (delivery_id, number, interface, started_at, duration_ms, error)
     select 1, number, 'partner'::interface_name, timestamptz '2026-11-02T09:30:01Z', 12, 'TIMEOUT'
     from generate_series(1, 22) number`,
    `insert into webhook_attempt (delivery_id, number, interface, started_at, duration_ms, response_status)
     values (2, 1, 'partner', '2026-11-02T09:30:01Z', 12, 503)`,
  ];
  for (const statement of statements) await harness.sql(statement);
}
