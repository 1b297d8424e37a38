import { issueCredential, revokeCredential } from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { testService } from '@deedwire/core/test-service';
import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { eventually, missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { served } from './support/interface-contracts.ts';

const t = await forFile(joinSharedSystem());
const receiver = await forFile(startReceiver());

interface Page {
  nodes: { id: string; subscriptionId: string; isTest: boolean; event: { eventId: string; type: string } }[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

const query = `query ($first: Int, $after: String, $eventId: ID, $recordId: ID, $subscriptionId: ID,
    $status: WebhookDeliveryStatus, $eventType: String, $since: DateTime, $until: DateTime) {
  webhookDeliveries(first: $first, after: $after, eventId: $eventId, recordId: $recordId, subscriptionId: $subscriptionId,
    status: $status, eventType: $eventType, since: $since, until: $until) {
    nodes { id subscriptionId isTest event { eventId type } } pageInfo { endCursor hasNextPage }
  }
}`;

/** The requests of an account to a version of its interface. */
function clientOf(account: keyof typeof t.accounts, date: string) {
  const { send, request, mutate } = createInterfaceClient(t, account, date);
  return {
    answer: async (variables: object) => {
      const { status, body } = await send<Page>(query, variables);
      return { status, page: body.data?.['webhookDeliveries'], errors: body.errors };
    },
    list: (variables: object) => request<Page>(query, variables),
    async subscribe(types: readonly string[]): Promise<string> {
      const { webhookSubscription, userErrors } = await mutate<{ webhookSubscription: { id: string } | null }>(
        'createWebhookSubscription',
        'webhookSubscription { id }',
        { callbackUrl: receiver.url, eventTypes: types.map((type) => ({ type })) },
      );
      if (webhookSubscription === null) throw new Error(JSON.stringify(userErrors));
      return webhookSubscription.id;
    },
    async sendTest(subscriptionId: string): Promise<string> {
      const { webhookEventId } = await mutate<{ webhookEventId: string | null }>(
        'sendTestWebhookEvent',
        'webhookEventId',
        { subscriptionId },
      );
      if (webhookEventId === null) throw new Error('No event was sent.');
      return webhookEventId;
    },
  };
}

const date = '2026-11-01';
const changes = { customer: 'order.placed', supplier: 'api_key.revoked' } as const;

/** Two subscriptions of an account, an event that both received, a test event for the first, and another event after both. */
async function prepare(account: 'supplier' | 'customer' | 'otherSupplier' | 'otherCustomer') {
  const client = clientOf(account, date);
  const { id, interfaceName } = t.accounts[account];
  const type = changes[interfaceName];
  const first = await client.subscribe([type, 'webhook.test']);
  const second = await client.subscribe([type]);
  /** Causes an event. Returns the id of its record. An event about a key has none. */
  const change = async (): Promise<string | null> => {
    if (interfaceName === 'customer') return (await t.place(1, t[account]))[0] ?? missing();
    const { apiKey } = await issueCredential(t.operator, { interfaceName, accountId: id, clientId: null });
    await revokeCredential(t.operator, { keyId: parseApiKey(testService, apiKey)?.keyId ?? missing() });
    return null;
  };
  const recordId = await change();
  const event = await newest(2, type);
  const testEvent = await client.sendTest(first);
  await newest(1, 'webhook.test');
  await change();
  await eventually(async () => {
    expect((await client.list({ eventType: type, status: 'DELIVERED' })).nodes).toHaveLength(4);
  });
  return { type, first, second, recordId, event, testEvent };

  /** The id of the newest event of a type once all its deliveries exist. */
  async function newest(deliveries: number, eventType: string): Promise<string> {
    let eventId = '';
    await eventually(async () => {
      const { nodes } = await client.list({ eventType });
      expect(nodes).toHaveLength(deliveries);
      eventId = nodes[0]?.event.eventId ?? '';
    });
    return eventId;
  }
}

const prepared = {
  supplier: await prepare('supplier'),
  customer: await prepare('customer'),
  otherSupplier: await prepare('otherSupplier'),
  otherCustomer: await prepare('otherCustomer'),
};

const isEmpty = {
  status: 200,
  page: { nodes: [], pageInfo: { endCursor: null, hasNextPage: false } },
  errors: undefined,
};

const refused = {
  errors: [
    {
      message: expect.stringContaining('`eventId` must be the global identifier of a WebhookEvent, such as'),
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ],
};

describe.each(served)('the $account interface at $date', (at) => {
  const { list, answer } = clientOf(at.account, at.date);
  const own = prepared[at.account];
  const foreign = prepared[at.account === 'supplier' ? 'otherSupplier' : 'otherCustomer'];
  const subscriptionsOf = async (variables: object) => {
    const { nodes, pageInfo } = await list(variables);
    expect(pageInfo.hasNextPage).toBe(false);
    return nodes.map(({ subscriptionId }) => subscriptionId).toSorted();
  };

  test('finds the deliveries of an event about a record, including with other filters', async () => {
    const { event: eventId, second, type } = own;
    const both = [own.first, second].toSorted();
    expect(await subscriptionsOf({ eventId })).toEqual(both);
    expect((await list({ eventId })).nodes.map(({ event }) => event.eventId)).toEqual([eventId, eventId]);
    expect(await subscriptionsOf({ eventId, eventType: type, status: 'DELIVERED' })).toEqual(both);
    expect(await subscriptionsOf({ eventId, subscriptionId: second })).toEqual([second]);
    expect(await subscriptionsOf({ eventId, recordId: own.recordId })).toEqual(both);
    expect(await subscriptionsOf({ eventId, eventType: 'webhook.test' })).toEqual([]);
    expect(await subscriptionsOf({ eventId, status: 'FAILED' })).toEqual([]);
    expect(await subscriptionsOf({ eventId, until: '2026-01-02T00:00:00Z' })).toEqual([]);
    expect(await subscriptionsOf({ eventId, since: '2090-01-01T00:00:00Z' })).toEqual([]);
  });

  test('finds the delivery of a test event, which is about no record', async () => {
    const { testEvent: eventId, recordId, second } = own;
    const { nodes } = await list({ eventId });
    expect(nodes).toMatchObject([{ subscriptionId: own.first, isTest: true, event: { eventId } }]);
    expect(await subscriptionsOf({ eventId, status: 'DELIVERED', eventType: 'webhook.test' })).toEqual([own.first]);
    expect(await subscriptionsOf({ eventId, subscriptionId: second })).toEqual([]);
    expect(await subscriptionsOf({ eventId, eventType: own.type })).toEqual([]);
    expect(await subscriptionsOf({ eventId, recordId })).toEqual(recordId === null ? [own.first] : []);
  });

  test('continues a page with the cursor of the one before', async () => {
    const { event: eventId } = own;
    const all = await list({ eventId });
    const page = await list({ eventId, first: 1 });
    expect(page.pageInfo.hasNextPage).toBe(true);
    const next = await list({ eventId, first: 1, after: page.pageInfo.endCursor });
    expect([...page.nodes, ...next.nodes]).toEqual(all.nodes);
    expect(next.pageInfo.hasNextPage).toBe(false);
  });

  test('shows nothing of a foreign event, as of one that does not exist', async () => {
    const unknown = `gid://service/WebhookEvent/${BigInt(own.event.split('/').at(-1) ?? '') + 1n}`;
    for (const eventId of [foreign.event, foreign.testEvent, unknown, 'gid://service/WebhookEvent/1'])
      for (const others of [{}, { status: 'DELIVERED' }, { recordId: own.recordId }, { eventType: own.type }])
        expect(await answer({ eventId, ...others })).toEqual(isEmpty);
  });

  test('refuses what is no identifier of an event, where the version checks identifiers', async () => {
    const { nodes } = await list({ eventId: own.event });
    const [number] = own.event.split('/').slice(-1);
    const wrong = [
      nodes[0]?.id,
      own.first,
      ...(own.recordId === null ? [] : [own.recordId]),
      number,
      'gid://other/WebhookEvent/1',
      'gid://service/WebhookEvent/0',
      '',
    ];
    const isStrict = at.account === 'supplier' && at.date !== '2026-11-01';
    for (const eventId of wrong) expect(await answer({ eventId })).toMatchObject(isStrict ? refused : isEmpty);
  });
});
