import { secretAssociatedData, toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  listWebhookSubscriptions,
  updateWebhookSubscription,
  type CreateWebhookSubscriptionInput,
} from '../src/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const firstUrl = 'https://receiver.example/hook';
const sampleSecret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

const create = (input: Partial<CreateWebhookSubscriptionInput> = {}) =>
  createWebhookSubscription(world.customerApi, world.customer, {
    callbackUrl: firstUrl,
    eventTypes: [{ type: 'order.placed' }],
    ...input,
  });

async function expectNothingCreated(): Promise<void> {
  for (const table of [
    'webhook_subscription',
    'webhook_subscription_event_type',
    'webhook_subscription_sequence',
    'webhook_event_queue',
    'idempotency_key',
  ])
    expect({ [table]: await world.sql(`select from ${table}`) }).toEqual({ [table]: [] });
}

test('pins the current versions, encrypts the secret and returns it once', async () => {
  const eventTypes = [{ type: 'order.placed' }, { type: 'api_key.created', version: '2026-11-01' }];
  const { webhookSubscription, webhookSecret, userErrors } = await create({ eventTypes });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription).toEqual({
    id: expect.stringMatching(/^gid:\/\/service\/WebhookSubscription\/\d+$/),
    name: null,
    callbackUrl: firstUrl,
    timeoutSeconds: 5,
    requestHeaderName: null,
    headerState: null,
    status: 'ACTIVE',
    pausedReason: null,
    pausedAt: null,
    eventTypes: [
      { type: 'api_key.created', version: '2026-11-01' },
      { type: 'order.placed', version: '2026-11-01' },
    ],
    createdAt: expect.any(Date),
    rotation: null,
  });
  expect(world.customerApi.sender.verified).toEqual([{ url: firstUrl, secret: webhookSecret }]);
  const [row] = await world.sql('select id, secret_ciphertext from webhook_subscription');
  const ciphertext = row?.['secret_ciphertext'];
  if (!Buffer.isBuffer(ciphertext)) throw new Error('No ciphertext.');
  expect(ciphertext.includes(webhookSecret ?? '')).toBe(false);
  expect(world.customerApi.secretKeys.decrypt(ciphertext, secretAssociatedData(toRecordId(String(row?.['id']))))).toBe(
    webhookSecret,
  );
  expect(await world.sql('select subscription_id, last_sequence from webhook_subscription_sequence')).toEqual([
    { subscription_id: row?.['id'], last_sequence: '0' },
  ]);
  expect(await world.sql('select event_id, subscription_id from webhook_event_queue')).toEqual([
    { event_id: null, subscription_id: row?.['id'] },
  ]);
  expect(world.customerApi.notified).toBe(1);
});

test('verifies, stores and returns the secret of the client', async () => {
  const { webhookSecret } = await create({ webhookSecret: sampleSecret });
  expect(webhookSecret).toBe(sampleSecret);
  expect(world.customerApi.sender.verified).toEqual([{ url: firstUrl, secret: sampleSecret }]);
});

test('stores and calls the normalized URL', async () => {
  const { webhookSubscription } = await create({ callbackUrl: 'HTTPS://Receiver.Example:443/a/../hook' });
  expect(webhookSubscription?.callbackUrl).toBe(firstUrl);
  expect(world.customerApi.sender.verified[0]?.url).toBe(firstUrl);
});

const typesOf = (interfaceName: string) =>
  testService.events.filter(({ interfaces }) => interfaces.includes(interfaceName)).map(({ type }) => type);

const unknownType = (type: string, name = 'customer') =>
  `The ${name} interface has no event type ${type}. Its event types are ${typesOf(name).join(', ')}.`;

type Refusal = [string, Partial<CreateWebhookSubscriptionInput>, { code: string; message: string; field: string[] }];

test.each<Refusal>([
  [
    'a private address',
    { callbackUrl: 'https://10.0.0.1/' },
    {
      code: 'CALLBACK_URL_FORBIDDEN',
      message: 'The address 10.0.0.1 of the callback URL is not public. Use a public host name or address.',
      field: ['input', 'callbackUrl'],
    },
  ],
  [
    'an empty list of event types',
    { eventTypes: [] },
    { code: 'EVENT_TYPES_INVALID', message: 'Name at least one event type.', field: ['input', 'eventTypes'] },
  ],
  [
    'an event type twice',
    { eventTypes: [{ type: 'order.placed' }, { type: 'order.placed', version: '2026-11-01' }] },
    {
      code: 'EVENT_TYPES_INVALID',
      message:
        '"order.placed" is listed twice. To receive two versions of an event type, create a second subscription.',
      field: ['input', 'eventTypes', '1'],
    },
  ],
  ...[
    ['an unknown event type', 'order.lost'],
    ['the name of a property of every object', '__proto__'],
    ['a very long event type', 'x'.repeat(90_000), `${'x'.repeat(60)}…`],
  ].map(([name = '', type = '', shown = type]): Refusal => {
    const field = ['input', 'eventTypes', '1', 'type'];
    const input = { eventTypes: [{ type: 'order.placed' }, { type }] };
    return [name, input, { code: 'EVENT_TYPE_UNKNOWN', message: unknownType(`"${shown}"`), field }];
  }),
  [
    'an unknown version',
    { eventTypes: [{ type: 'order.placed', version: '2026-11-02' }] },
    {
      code: 'EVENT_VERSION_UNKNOWN',
      message: '"order.placed" has no version "2026-11-02". It has: 2026-11-01, 2027-02-01.',
      field: ['input', 'eventTypes', '0', 'version'],
    },
  ],
  ...[
    ['', ''],
    ['whsec_', ''],
    [`whsec_${Buffer.alloc(23).toString('base64')}`, ' This one has 23 bytes.'],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, ' This one has 65 bytes.'],
    [`${sampleSecret} `, ''],
  ].map(([webhookSecret, size]): Refusal => {
    const message = `A webhook secret is \`whsec_\` and the base64 of 24 to 64 bytes.${size}`;
    const field = ['input', 'webhookSecret'];
    return [
      `the secret ${JSON.stringify(webhookSecret)}`,
      { webhookSecret },
      { code: 'WEBHOOK_SECRET_INVALID', message, field },
    ];
  }),
  ...[4, 16].map((timeoutSeconds): Refusal => {
    const message = `The timeout must be 5 to 15 seconds; it is ${timeoutSeconds}.`;
    const field = ['input', 'timeoutSeconds'];
    return [`a timeout of ${timeoutSeconds} s`, { timeoutSeconds }, { code: 'TIMEOUT_INVALID', message, field }];
  }),
])('rejects %s before the handshake', async (_, input, userError) => {
  expect(await create(input)).toEqual({ webhookSubscription: null, webhookSecret: null, userErrors: [userError] });
  expect(world.customerApi.sender.verified).toEqual([]);
  await expectNothingCreated();
});

test("rejects the other interface's event type before the handshake", async () => {
  const eventTypes = [{ type: 'webhook.test' }, { type: 'order.placed' }];
  const created = createWebhookSubscription(world.supplierApi, world.supplier, { callbackUrl: firstUrl, eventTypes });
  expect(await created).toEqual({
    webhookSubscription: null,
    webhookSecret: null,
    userErrors: [
      {
        code: 'EVENT_TYPE_UNKNOWN',
        message: unknownType('"order.placed"', 'supplier'),
        field: ['input', 'eventTypes', '1', 'type'],
      },
    ],
  });
  expect(world.supplierApi.sender.verified).toEqual([]);
  await expectNothingCreated();
});

test.each([
  [null, 5],
  [5, 5],
  [15, 15],
])('a timeout of %j is stored as %d s, including in a saved result', async (timeoutSeconds, stored) => {
  for (let count = 0; count < 2; count += 1) {
    const { webhookSubscription } = await create({ timeoutSeconds, idempotencyKey: 'key' });
    expect(webhookSubscription?.timeoutSeconds).toBe(stored);
  }
  expect(await world.sql('select timeout_seconds from webhook_subscription')).toEqual([{ timeout_seconds: stored }]);
});

test('an idempotency key belongs to the timeout with which it was used', async () => {
  await create({ timeoutSeconds: 10, idempotencyKey: 'key' });
  expect((await create({ timeoutSeconds: 11, idempotencyKey: 'key' })).userErrors).toMatchObject([
    { code: 'IDEMPOTENCY_KEY_REUSED' },
  ]);
});

test('returns at most 20 user errors for hundreds of unknown event types', async () => {
  const eventTypes = Array.from({ length: 900 }, (_, index) => ({ type: `x${index}` }));
  const { userErrors } = await create({ eventTypes });
  expect(userErrors.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => 'EVENT_TYPE_UNKNOWN'));
});

test('creates nothing when the handshake fails, and returns its code and message', async () => {
  const failure = { code: 'VERIFICATION_STATUS', message: 'The handshake failed.' } as const;
  world.customerApi.sender.result = () => ({ verified: false, ...failure });
  expect(await create({ idempotencyKey: 'key' })).toEqual({
    webhookSubscription: null,
    webhookSecret: null,
    userErrors: [{ ...failure, field: ['input', 'callbackUrl'] }],
  });
  await expectNothingCreated();
});

test('limits an account to 20 subscriptions, including for concurrent requests', async () => {
  await world.sql(
    `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
     select $1, 'customer', 'https://a.test/', '', 0 from generate_series(1, 12)`,
    [world.customer.accountId],
  );
  const results = await Promise.all(Array.from({ length: 15 }, () => create()));
  expect(results.filter(({ webhookSubscription }) => webhookSubscription !== null)).toHaveLength(8);
  for (const { webhookSubscription, userErrors } of results) {
    if (webhookSubscription !== null) continue;
    const message = 'The account has reached its limit of 20 subscriptions. Delete one first.';
    expect(userErrors).toEqual([{ code: 'LIMIT_REACHED', message, field: null }]);
  }
  const { edges } = await listWebhookSubscriptions(world.customerApi, world.customer, { first: 100 });
  expect(edges).toHaveLength(20);

  // At the limit there is no handshake. Another account has its own limit. A deleted subscription does not count.
  const called = world.customerApi.sender.verified.length;
  expect((await create()).userErrors).toMatchObject([{ code: 'LIMIT_REACHED' }]);
  expect(world.customerApi.sender.verified).toHaveLength(called);
  await world.subscribe({}, world.otherCustomer);
  await deleteWebhookSubscription(world.customerApi, world.customer, { id: edges[0]?.node.id ?? '' });
  expect((await create()).userErrors).toEqual([]);
});

test('reports everything that is wrong at once', async () => {
  for (let count = 0; count < 20; count += 1) await world.subscribe();
  const { userErrors, webhookSubscription } = await create({
    callbackUrl: 'not a url',
    eventTypes: [{ type: 'nope' }, { type: 'order.placed', version: 'nope' }],
    webhookSecret: 'secret',
    idempotencyKey: 'ü',
  });
  expect(webhookSubscription).toBeNull();
  expect(userErrors.map(({ code, field }) => [code, field])).toEqual([
    ['CALLBACK_URL_INVALID', ['input', 'callbackUrl']],
    ['EVENT_TYPE_UNKNOWN', ['input', 'eventTypes', '0', 'type']],
    ['EVENT_VERSION_UNKNOWN', ['input', 'eventTypes', '1', 'version']],
    ['WEBHOOK_SECRET_INVALID', ['input', 'webhookSecret']],
    ['LIMIT_REACHED', null],
    ['IDEMPOTENCY_KEY_INVALID', ['input', 'idempotencyKey']],
  ]);
});

/** Sets the count of this minute, and of the next one in case it begins during the test. */
const countHandshakes = (handshakes: number) =>
  world.sql(
    `insert into webhook_handshake_count (account_id, interface, minute, handshakes)
     select $1, 'customer', date_trunc('minute', now()) + n * interval '1 minute', $2 from generate_series(0, 1) n
     on conflict (account_id, minute) do update set handshakes = excluded.handshakes`,
    [world.customer.accountId, handshakes],
  );

test('limits an account to 20 handshakes per minute, for new and changed URLs together', async () => {
  await countHandshakes(19);
  const { webhookSubscription } = await create();
  expect(webhookSubscription).not.toBeNull();
  await countHandshakes(20);
  const refused = [
    {
      code: 'VERIFICATION_RATE_LIMITED',
      message: expect.stringMatching(
        /^This is verification 2\d of a callback URL of the account in this minute; at most 20 are allowed\./,
      ),
      field: null,
    },
  ];
  expect((await create()).userErrors).toEqual(refused);
  const id = webhookSubscription?.id ?? '';
  const callbackUrl = 'https://receiver.example/other';
  const update = await updateWebhookSubscription(world.customerApi, world.customer, { id, callbackUrl });
  expect(update).toEqual({ webhookSubscription: null, userErrors: refused });
  expect(world.customerApi.sender.verified).toHaveLength(1);
  await world.subscribe({}, world.otherCustomer);
});

test('counts concurrent handshakes', async () => {
  await countHandshakes(1);
  world.customerApi.sender.result = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: '500' });
  await Promise.all(Array.from({ length: 10 }, () => create()));
  expect(await world.sql('select sum(handshakes)::int as sum from webhook_handshake_count')).toEqual([{ sum: 2 + 10 }]);
});

test('deletes the counts of previous minutes', async () => {
  await world.sql(
    `insert into webhook_handshake_count select $1, 'customer', date_trunc('minute', now()) - interval '1 minute', 20`,
    [world.customer.accountId],
  );
  await create();
  expect(await world.sql('select handshakes from webhook_handshake_count')).toEqual([{ handshakes: 1 }]);
});
