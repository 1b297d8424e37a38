import { describe, expect, test } from 'vitest';
import {
  cancelWebhookReplay,
  createWebhookListener,
  deleteWebhookListener,
  deleteWebhookSubscription,
  findWebhookDelivery,
  findWebhookReplay,
  findWebhookSubscription,
  listWebhookDeliveries,
  listWebhookEvents,
  listWebhookReplays,
  listWebhookSubscriptions,
  readWebhookHealth,
  readWebhookStatistics,
  pauseWebhookSubscription,
  replayWebhookEvents,
  resumeWebhookSubscription,
  retryWebhookDelivery,
  rotateWebhookSecret,
  sendPendingWebhookDeliveries,
  sendTestWebhookEvent,
  updateWebhookSubscription,
} from '../src/index.ts';
import { useWorld } from './support/use-world.ts';
import type { Account, Context } from './support/world.ts';

const world = await useWorld();

/** Inserts a delivery to a subscription, as the worker does. */
async function deliver(subscriptionId: string): Promise<string> {
  const rows = await world.sql(
    `with sequence as (update webhook_subscription_sequence set last_sequence = 1 where subscription_id = $1)
     insert into webhook_delivery
       (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select id, account_id, interface, 1, 'order.placed', '2026-11-01', now(), 1 from webhook_subscription where id = $1
     returning id`,
    [subscriptionId.split('/').at(-1)],
  );
  return `gid://service/WebhookDelivery/${String(rows[0]?.['id'])}`;
}

type Find = (context: Context, caller: Account, id: string) => Promise<unknown>;

const notFound = {
  code: 'NOT_FOUND',
  message: 'You have no subscription with this identifier.',
  field: ['input', 'id'],
};

/** A replay of a subscription of this account. Returns the identifier of the subscription. */
async function startReplay(owner: Account): Promise<{ id: string; subscriptionId: string }> {
  const subscriptionId = await subscription(owner);
  const { webhookReplay } = await replayWebhookEvents(world.customerApi, owner, { subscriptionId });
  if (webhookReplay === null) throw new Error('The replay was refused.');
  return webhookReplay;
}

interface Case {
  name: string;
  /** Creates a record of this account and returns its identifier. */
  make: (owner: Account) => Promise<string>;
  find: Find;
  /** The result for an unknown identifier. */
  missing: unknown;
  /** Whether the record stays visible when its subscription is deleted. */
  outlivesSubscription?: true;
}

const subscription = (owner: Account) => world.subscribe({}, owner).then(({ id }) => id);
const listener = async (owner: Account): Promise<string> => {
  const input = { eventTypes: [{ type: 'order.placed' }] };
  const { webhookListener } = await createWebhookListener(world.customerApi, owner, input);
  if (webhookListener === null) throw new Error('The listener was refused.');
  return webhookListener.id;
};
const delivery = async (owner: Account) => deliver(await subscription(owner));
const subscriptionWithDelivery = async (owner: Account) => {
  const id = await subscription(owner);
  await deliver(id);
  return id;
};
const withId = (gid: string, id: string) => gid.replace(/[^/]*$/, id);
const page = { edges: [], endCursor: null, hasNextPage: false, hasPreviousPage: false };

const noSubscription = { webhookSubscription: null, userErrors: [notFound] };
const noSubscriptionId = [{ ...notFound, field: ['input', 'subscriptionId'] }];
const noRecord = (type: string) => [{ ...notFound, message: `You have no ${type} with this identifier.` }];
const sendTest: Find = (context, caller, subscriptionId) =>
  sendTestWebhookEvent(context, caller, { subscriptionId, eventType: 'order.placed' });
/** A change of a subscription, which its input names as `id`. */
const change = (name: string, find: Find, missing: object = noSubscription): Case => ({
  name,
  make: subscription,
  find,
  missing,
});

const cases: Case[] = [
  { name: 'findWebhookSubscription', make: subscription, find: findWebhookSubscription, missing: null },
  { name: 'findWebhookDelivery', make: delivery, find: findWebhookDelivery, missing: null },
  {
    name: 'replayWebhookEvents',
    make: subscription,
    find: (context, caller, subscriptionId) => replayWebhookEvents(context, caller, { subscriptionId }),
    missing: { webhookReplay: null, estimate: null, userErrors: noSubscriptionId },
  },
  {
    name: 'cancelWebhookReplay',
    outlivesSubscription: true,
    make: async (owner) => (await startReplay(owner)).id,
    find: (context, caller, id) => cancelWebhookReplay(context, caller, { id }),
    missing: { webhookReplay: null, userErrors: noRecord('replay') },
  },
  {
    name: 'findWebhookReplay',
    outlivesSubscription: true,
    make: async (owner) => (await startReplay(owner)).id,
    find: findWebhookReplay,
    missing: null,
  },
  {
    name: 'listWebhookReplays',
    outlivesSubscription: true,
    make: async (owner) => (await startReplay(owner)).subscriptionId,
    find: (context, caller, subscriptionId) => listWebhookReplays(context, caller, { subscriptionId }),
    missing: page,
  },
  {
    name: 'retryWebhookDelivery',
    make: delivery,
    find: (context, caller, id) => retryWebhookDelivery(context, caller, { id }),
    missing: { webhookDelivery: null, userErrors: noRecord('delivery') },
  },
  {
    name: 'sendPendingWebhookDeliveries',
    make: subscription,
    find: (context, caller, subscriptionId) => sendPendingWebhookDeliveries(context, caller, { subscriptionId }),
    missing: { ...noSubscription, userErrors: noSubscriptionId },
  },
  {
    name: 'listWebhookDeliveries',
    make: subscriptionWithDelivery,
    find: (context, caller, subscriptionId) => listWebhookDeliveries(context, caller, { subscriptionId }),
    missing: page,
  },
  {
    name: 'listWebhookEvents',
    make: subscriptionWithDelivery,
    find: async (context, caller, subscriptionId) => {
      const options = {
        readsPayloads: false,
        readsNumberedUntil: true,
        pauseFor: () => Promise.reject(new Error()),
        onWideRead: () => {},
      };
      const found = await listWebhookEvents(context, caller, { subscriptionId, waitSeconds: 20 }, options);
      return found && found.edges.map(({ node }) => node);
    },
    missing: null,
  },
  change('updateWebhookSubscription', (context, caller, id) =>
    updateWebhookSubscription(context, caller, { id, callbackUrl: 'https://receiver.example/other' }),
  ),
  change('pauseWebhookSubscription', (context, caller, id) => pauseWebhookSubscription(context, caller, { id })),
  change('resumeWebhookSubscription', (context, caller, id) => resumeWebhookSubscription(context, caller, { id })),
  change('rotateWebhookSecret', (context, caller, id) => rotateWebhookSecret(context, caller, { id }), {
    ...noSubscription,
    webhookSecret: null,
  }),
  change('deleteWebhookSubscription', (context, caller, id) => deleteWebhookSubscription(context, caller, { id }), {
    deletedWebhookSubscriptionId: null,
    userErrors: [notFound],
  }),
  change('sendTestWebhookEvent', sendTest, { webhookEventId: null, userErrors: noSubscriptionId }),
  {
    name: 'sendTestWebhookEvent to a listener',
    outlivesSubscription: true,
    make: listener,
    find: sendTest,
    missing: { webhookEventId: null, userErrors: noSubscriptionId },
  },
  {
    name: 'deleteWebhookListener',
    outlivesSubscription: true,
    make: listener,
    find: (context, caller, id) => deleteWebhookListener(context, caller, { id }),
    missing: { deletedWebhookListenerId: null, userErrors: noRecord('listener') },
  },
];

describe.each(cases)('$name', ({ make, find, missing }) => {
  test('returns the same for records of another account and for unknown or malformed identifiers', async () => {
    const own = await make(world.customer);
    const others = await make(world.otherCustomer);
    const before = await world.sql('select * from webhook_subscription order by id');
    const verified = world.customerApi.sender.verified.length;
    const ids = [
      others,
      withId(own, '999999'),
      withId(own, '9223372036854775807'),
      withId(own, '9223372036854775808'),
      withId(own, `0${own.split('/').at(-1)}`),
      withId(own, '-1'),
      withId(own, ''),
      own.replace('gid://service/', 'gid://other/'),
      own.replace(/\/\w+\/(\d+)$/, '/Order/$1'),
      own.replace(/\/\w+\/(\d+)$/, '/Customer/$1'),
      own.split('/').at(-1) ?? '',
      `${own}\n`,
      ` ${own}`,
      '',
      '\0',
      '\ud800',
      'x'.repeat(100_000),
    ];
    for (const id of ids)
      expect({ id, result: await find(world.customerApi, world.customer, id) }).toEqual({ id, result: missing });
    expect(await world.sql('select * from webhook_subscription order by id')).toEqual(before);
    expect(world.customerApi.sender.verified).toHaveLength(verified);
    expect(await find(world.customerApi, world.customer, own)).not.toEqual(missing);
  });
});

describe.each(cases)('$name, from the other interface', (each) => {
  test('returns the same for records of the other interface as for unknown ones', async () => {
    const id = await each.make(world.customer);
    expect(await each.find(world.supplierApi, world.supplier, id)).toEqual(each.missing);
    // Row-level security holds even if a bug passes the id of another account.
    const impostor = { ...world.supplier, accountId: world.customer.accountId };
    expect(await each.find(world.supplierApi, impostor, id)).toEqual(each.missing);
    expect(await each.find(world.customerApi, world.customer, id)).not.toEqual(each.missing);
  });

  test.runIf(each.outlivesSubscription !== true)(
    'returns the same for deleted records as for unknown ones',
    async () => {
      const id = await each.make(world.customer);
      const { edges } = await listWebhookSubscriptions(world.customerApi, world.customer, {});
      for (const { node } of edges) await deleteWebhookSubscription(world.customerApi, world.customer, { id: node.id });
      expect(await each.find(world.customerApi, world.customer, id)).toEqual(each.missing);
    },
  );
});

const ids = ({ edges }: { edges: { node: { id: string } }[] }) => edges.map(({ node }) => node.id);

test('lists contain only the records of the caller', async () => {
  const subscriptionId = await subscription(world.customer);
  const deliveryId = await deliver(subscriptionId);
  await delivery(world.otherCustomer);
  const { customerApi, customer } = world;
  expect(ids(await listWebhookSubscriptions(customerApi, customer, {}))).toEqual([subscriptionId]);
  expect(ids(await listWebhookDeliveries(customerApi, customer, {}))).toEqual([deliveryId]);
});

test('the health and the statistics of a subscription are those of its account only, even if a bug passes another id', async () => {
  const id = await subscription(world.customer);
  const number = id.split('/').at(-1);
  await world.sql(
    `with state as (
       insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes) values ($1, 1, 3, 0)
     )
     insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed)
     values ($1, date_trunc('hour', now(), 'UTC'), 1, 'customer', 5, 0, 0)`,
    [number],
  );
  const read = async (context: Context, caller: Account) => {
    const [health] = await readWebhookHealth(context, caller, [id]);
    const [hours] = await readWebhookStatistics(context, caller, [{ subscriptionId: id, hours: 2 }]);
    return { state: health?.state, delivered: Array.isArray(hours) && hours.map((each) => each.deliveredCount).at(-1) };
  };
  expect(await read(world.customerApi, world.customer)).toEqual({ state: 'RETRYING', delivered: 5 });
  const impostor = { ...world.supplier, accountId: world.customer.accountId };
  for (const [context, caller] of [
    [world.customerApi, world.otherCustomer],
    [world.supplierApi, world.supplier],
    [world.supplierApi, impostor],
  ] as const)
    expect(await read(context, caller)).toEqual({ state: 'PAUSED', delivered: 0 });
  // As one that is deleted while an operation runs.
  await deleteWebhookSubscription(world.customerApi, world.customer, { id });
  expect(await read(world.customerApi, world.customer)).toEqual({ state: 'PAUSED', delivered: 0 });
});
