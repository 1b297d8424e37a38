import { permitListeners } from '@deedwire/actions';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { served } from './support/interface-contracts.ts';

const t = await forFile(joinSharedSystem());

interface Listener {
  id: string;
  eventTypes: { type: string; version: string }[];
  createdAt: string;
  expiresAt: string;
  lastSequence: number;
}

const fields = '{ id eventTypes { type version } createdAt expiresAt lastSequence }';

/** The requests of one account to one version of its interface. */
function clientOf(account: keyof SharedSystem['accounts'], date: string) {
  const { send, request, mutate } = createInterfaceClient(t, account, date);
  return {
    send,
    mutate,
    create: (input: object) =>
      mutate<{ webhookListener: Listener | null }>('createWebhookListener', `webhookListener ${fields}`, input),
    remove: (id: string) =>
      mutate<{ deletedWebhookListenerId: string | null }>('deleteWebhookListener', 'deletedWebhookListenerId', { id }),
    list: () => request<Listener[]>(`{ webhookListeners ${fields} }`),
    async listen(input: object = {}): Promise<Listener> {
      const eventTypes = [{ type: 'webhook.test' }];
      const { webhookListener, userErrors } = await this.create({ eventTypes, ...input });
      if (webhookListener === null) throw new Error(JSON.stringify(userErrors));
      onTestFinished(async () => void (await this.remove(webhookListener.id)));
      return webhookListener;
    },
  };
}

describe.each(served)('$account $date', ({ account, date }) => {
  test('creates, lists, tests and deletes a listener', async () => {
    const client = clientOf(account, date);
    const listener = await client.listen();
    expect(listener).toEqual({
      id: expect.stringMatching(/^gid:\/\/service\/WebhookListener\/\d+$/),
      eventTypes: [{ type: 'webhook.test', version: '2026-11-01' }],
      createdAt: expect.any(String),
      expiresAt: new Date(Date.parse(listener.createdAt) + 86_400_000).toISOString(),
      lastSequence: 0,
    });
    expect(await client.list()).toEqual([listener]);

    const input = { subscriptionId: listener.id };
    const sent = await client.mutate<{ webhookEventId: string }>('sendTestWebhookEvent', 'webhookEventId', input);
    expect(sent).toEqual({ webhookEventId: expect.stringContaining('/WebhookEvent/'), userErrors: [] });
    await eventually(async () => expect(await client.list()).toEqual([{ ...listener, lastSequence: 1 }]));

    expect(await client.remove(listener.id)).toEqual({ deletedWebhookListenerId: listener.id, userErrors: [] });
    expect(await client.list()).toEqual([]);
    expect(await client.remove(listener.id)).toEqual({
      deletedWebhookListenerId: null,
      userErrors: [
        { code: 'NOT_FOUND', message: 'You have no listener with this identifier.', field: ['input', 'id'] },
      ],
    });
  });

  test('marks a repeated creation, and lists its listener once', async () => {
    const client = clientOf(account, date);
    const query = `mutation ($input: CreateWebhookListenerInput!) {
      createWebhookListener(input: $input) { webhookListener { id } userErrors { code } }
    }`;
    const variables = { input: { eventTypes: [{ type: 'webhook.test' }], idempotencyKey: `listen ${date}` } };
    const [first, second] = [await client.send(query, variables), await client.send(query, variables)];
    onTestFinished(async () => {
      for (const { id } of await client.list()) await client.remove(id);
    });
    expect(second.body.data).toEqual(first.body.data);
    expect(first.body).not.toHaveProperty('extensions.idempotency');
    expect(second.body).toMatchObject({ extensions: { idempotency: { replayed: true } } });
    expect(await client.list()).toHaveLength(1);
  });

  test('the fields of subscriptions do not accept a listener', async () => {
    const client = clientOf(account, date);
    const { id } = await client.listen();
    const disguised = id.replace('WebhookListener', 'WebhookSubscription');
    for (const mutation of ['pauseWebhookSubscription', 'resumeWebhookSubscription', 'rotateWebhookSecret']) {
      const result = await client.mutate(mutation, 'webhookSubscription { id }', { id: disguised });
      expect(result).toMatchObject({ webhookSubscription: null, userErrors: [{ code: 'NOT_FOUND' }] });
    }
    const query = `query ($id: ID!) {
      webhookSubscription(id: $id) { id } webhookEvents(subscriptionId: $id) { lastSequence }
    }`;
    expect((await client.send(query, { id: disguised })).body.data).toEqual({
      webhookSubscription: null,
      webhookEvents: null,
    });
    expect((await client.list()).map((listener) => listener.id)).toEqual([id]);
  });
});

test('from 2027-02-01 on, an identifier of another type is rejected', async () => {
  const client = clientOf('supplier', '2027-02-01');
  const send = async (mutation: string, field: string) => {
    const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { userErrors { code } } }`;
    const { body } = await client.send(query, { input: { [field]: 'gid://service/Supplier/1' } });
    return body.errors?.map(({ message, extensions }) => [extensions?.['code'], message]);
  };
  expect(await send('deleteWebhookListener', 'id')).toEqual([
    [
      'BAD_USER_INPUT',
      '`input.id` must be the global identifier of a WebhookListener, such as "gid://service/WebhookListener/123"; it is "gid://service/Supplier/1".',
    ],
  ]);
  expect(await send('sendTestWebhookEvent', 'subscriptionId')).toEqual([
    [
      'BAD_USER_INPUT',
      '`input.subscriptionId` must be the global identifier of a WebhookSubscription or a WebhookListener, such as "gid://service/WebhookSubscription/123"; it is "gid://service/Supplier/1".',
    ],
  ]);
});

test('an account whose operator has forbidden listeners creates none', async () => {
  const client = clientOf('otherCustomer', '2026-11-01');
  const accountId = t.accounts.otherCustomer.id;
  await permitListeners(t.operator, { accountId, isForbidden: true });
  onTestFinished(async () => void (await permitListeners(t.operator, { accountId, isForbidden: false })));
  expect(await client.create({ eventTypes: [{ type: 'webhook.test' }] })).toEqual({
    webhookListener: null,
    userErrors: [
      {
        code: 'FORBIDDEN',
        message: 'The operator has forbidden listeners for your account. Ask the operator to allow them.',
        field: null,
      },
    ],
  });
  expect(await client.list()).toEqual([]);
});
