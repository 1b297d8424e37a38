import { listAuditEntries } from '@deedwire/actions';
import type { Harness } from '@deedwire/dev-environment/harness';
import { type Credential, eventually, postGraphql } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

interface EventPage {
  edges: { sequence: number; node: { type: string; payload: string | null } }[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
  lastSequence: number;
}

interface Listener {
  id: string;
  expiresAt: string;
  lastSequence: number;
}

/** The requests of a partner to a running interface. */
async function startPartner(harness: Harness) {
  const service = await harness.startPartnerApi();
  await service.whenReady;
  const url = `${service.url}/partners/graphql`;
  async function ask<Result>(query: string, variables: object = {}): Promise<Result> {
    const { credential } = harness.accounts.partner;
    const { body } = await postGraphql<Record<string, Result>>(url, credential, { query, variables });
    const [result] = Object.values(body.data ?? {});
    if (result === undefined) throw new Error(JSON.stringify(body));
    return result;
  }
  return {
    url,
    async listen(type: string): Promise<Listener> {
      const { webhookListener, userErrors } = await ask<{ webhookListener: Listener | null; userErrors: object[] }>(
        `mutation ($input: CreateWebhookListenerInput!) {
          createWebhookListener(input: $input) { webhookListener { id expiresAt lastSequence } userErrors { code } }
        }`,
        { input: { eventTypes: [{ type }] } },
      );
      if (webhookListener === null) throw new Error(JSON.stringify(userErrors));
      return webhookListener;
    },
    listeners: () => ask<Listener[]>('{ webhookListeners { id expiresAt lastSequence } }'),
    refer: (clientName: string) =>
      ask(
        'mutation ($clientName: String!) { createReferral(input: { clientName: $clientName }) { referral { id } } }',
        {
          clientName,
        },
      ),
    test: (subscriptionId: string) =>
      ask('mutation ($id: ID!) { sendTestWebhookEvent(input: { subscriptionId: $id }) { webhookEventId } }', {
        id: subscriptionId,
      }),
    read: (id: string, page: { first?: number; after?: string | null; waitSeconds?: number } = {}) =>
      ask<EventPage | null>(
        `query ($id: ID!, $first: Int, $after: String, $waitSeconds: Int) {
          webhookEvents(subscriptionId: $id, first: $first, after: $after, waitSeconds: $waitSeconds) {
            edges { sequence node { type payload } } pageInfo { endCursor hasNextPage } lastSequence
          }
        }`,
        { id, ...page },
      ),
  };
}

const moveReadBack = (harness: Harness, { id }: Listener, by: string) =>
  harness.sql(`update webhook_subscription set last_read_at = last_read_at - interval '${by}' where id = $1`, [
    id.split('/').at(-1),
  ]);

test('a listener is read, never sent, and deleted 24 hours after its last read', async ({ harness }) => {
  await harness.startWorker();
  const partner = await startPartner(harness);
  const listener = await partner.listen('referral.created');
  await partner.refer('Ada');
  const page = await partner.read(listener.id, { waitSeconds: 20 });
  expect(page).toMatchObject({ edges: [{ sequence: 1, node: { type: 'referral.created' } }], lastSequence: 1 });
  const { data } = JSON.parse(page?.edges[0]?.node.payload ?? '');
  expect(data.referralId).toMatch(/^gid:\/\/service\/Referral\/\d+$/);
  expect(await harness.sql('select from webhook_attempt')).toEqual([]);
  expect(await harness.sql('select from webhook_pending_delivery')).toEqual([]);

  // A read of the last hour was noted, so another one is not, and an earlier one moves the time.
  expect(await partner.listeners()).toMatchObject([{ id: listener.id, expiresAt: listener.expiresAt }]);
  await moveReadBack(harness, listener, '23 hours');
  await partner.read(listener.id);
  await eventually(async () => {
    const [{ expiresAt } = { expiresAt: '' }] = await partner.listeners();
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(Date.parse(listener.expiresAt));
  });

  await moveReadBack(harness, listener, '26 hours');
  // It looks for such listeners when it starts, and every 30 seconds.
  await harness.startWorker();
  await eventually(async () => expect(await partner.listeners()).toEqual([]));
  expect(await partner.read(listener.id)).toBeNull();
  await eventually(async () => expect(await harness.sql('select from webhook_event_queue')).toEqual([]));
  await eventually(async () => expect(await harness.sql('select from webhook_deleted_backlog')).toEqual([]));
  expect(await harness.sql('select from webhook_subscription_event_type')).toEqual([]);
  const [row] = await harness.sql('select callback_url, deleted_at from webhook_subscription');
  expect(row).toEqual({ callback_url: '', deleted_at: expect.any(Date) });
  const entries = await listAuditEntries(harness.operator, { limit: 10 });
  expect(entries.filter(({ subject }) => subject === listener.id).map(({ action }) => action)).toEqual([
    'webhook_listener.expire',
    'webhook_listener.create',
  ]);
});

test('a listener that is read slower than events arrive loses none, and says how far behind it is', async ({
  harness,
}) => {
  await harness.startWorker();
  const partner = await startPartner(harness);
  const { id } = await partner.listen('webhook.test');
  const read: number[] = [];
  const behind: number[] = [];
  let sent = 0;
  let after: string | null = null;
  for (let round = 0; round < 8; round += 1) {
    for (let count = 0; count < 4; count += 1) await partner.test(id);
    sent += 4;
    const expected = sent;
    await eventually(async () => expect(await partner.listeners()).toMatchObject([{ lastSequence: expected }]));
    // Two of the four: the reader falls further and further behind.
    const page: EventPage | null = await partner.read(id, { first: 2, after });
    read.push(...(page?.edges ?? []).map(({ sequence }) => sequence));
    after = page?.pageInfo.endCursor ?? null;
    behind.push((page?.lastSequence ?? 0) - (read.at(-1) ?? 0));
  }
  expect(behind).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
  for (let hasNextPage = true; hasNextPage;) {
    const page: EventPage | null = await partner.read(id, { first: 5, after });
    read.push(...(page?.edges ?? []).map(({ sequence }) => sequence));
    after = page?.pageInfo.endCursor ?? null;
    hasNextPage = page?.pageInfo.hasNextPage === true;
  }
  expect(read).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
});

const readAs = async (url: string, credential: Credential, id: string) => {
  const query = 'query ($id: ID!) { webhookEvents(subscriptionId: $id, waitSeconds: 20) { lastSequence } }';
  const { status, body } = await postGraphql(url, credential, { query, variables: { id } });
  return { status, data: body.data, errors: body.errors };
};

test('no other account, of either interface, reads a listener or keeps it alive', async ({ harness }) => {
  await harness.startWorker();
  const partner = await startPartner(harness);
  const lenderApi = await harness.startLenderApi();
  await lenderApi.whenReady;
  const listener = await partner.listen('webhook.test');
  await partner.test(listener.id);
  await eventually(async () => expect(await partner.listeners()).toMatchObject([{ lastSequence: 1 }]));
  await moveReadBack(harness, listener, '20 hours');
  const { accounts } = harness;
  const nothing = { status: 200, data: { webhookEvents: null }, errors: undefined };
  const disguised = listener.id.replace('WebhookListener', 'WebhookSubscription');
  for (const id of [listener.id, disguised]) {
    expect(await readAs(`${lenderApi.url}/lenders/graphql`, accounts.lender.credential, id)).toEqual(nothing);
    expect(await readAs(partner.url, accounts.otherPartner.credential, id)).toEqual(nothing);
  }
  // The identifier of a listener is no identifier of a subscription, also for its owner.
  expect(await readAs(partner.url, accounts.partner.credential, disguised)).toEqual(nothing);
  const expiresAt = new Date(Date.parse(listener.expiresAt) - 20 * 3_600_000).toISOString();
  expect(await partner.listeners()).toMatchObject([{ id: listener.id, expiresAt }]);
});
