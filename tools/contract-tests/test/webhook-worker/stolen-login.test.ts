import { retryWebhookDelivery } from '@deedwire/actions';
import { createTestAccounts, type Harness, type TestAccount } from '@deedwire/dev-environment/firm-harness';
import { updateLender } from '@deedwire/firm/lender';
import { connect, type Connection, eventually, missing, type Receiver, startReceiver } from '@deedwire/testing';
import { expect, onTestFinished } from 'vitest';
import { createInterfaceClient, startInterfaces } from '../support/interface-client.ts';
import { test } from './firm-fixtures.ts';

// An attacker who has stolen the database login of the lender API, while a worker runs, can do nothing to partners.

interface Attack {
  /** A session of the login. */
  login: Connection;
  /** A partner. */
  victim: TestAccount;
  /** The account and the subscription of the attacker. */
  accountId: string;
  subscriptionId: string;
  receiver: Receiver;
  /** The account, the subscription, a delivery and its event of the partner. */
  foreign: Record<'accountId' | 'subscriptionId' | 'deliveryId' | 'eventId', string>;
  /** Resolves once the worker has done all that was queued, and delivered one more event to the attacker, as it should. */
  settle: () => Promise<void>;
}

async function attack(harness: Harness, { url }: Receiver): Promise<Attack> {
  const { operator } = harness;
  const accounts = await createTestAccounts(operator);
  const { lender, partner: victim } = accounts;
  const { accountId } = lender;
  await harness.subscribe(url, ['referral.created'], victim);
  await harness.refer(1, victim);
  await eventually(async () => expect(await harness.deliveries(victim)).toMatchObject([{ status: 'DELIVERED' }]));
  const [foreign = {}] = await harness.sql(
    `select account_id::text as "accountId", subscription_id::text as "subscriptionId", id::text as "deliveryId",
       event_id::text as "eventId"
     from webhook_delivery where account_id = $1`,
    [victim.accountId],
  );

  const receiver = await startReceiver();
  const login = await connect(await harness.database.urlFor('lender_api'));
  onTestFinished(async () => {
    await login.close();
    await receiver.close();
  });
  const { urls } = await startInterfaces(harness, ['lender']);
  const { mutate } = createInterfaceClient({ accounts, urls }, 'lender', '2026-11-01');
  const { webhookSubscription: own } = await mutate<{ webhookSubscription: { id: string } }>(
    'createWebhookSubscription',
    'webhookSubscription { id }',
    { callbackUrl: receiver.url, eventTypes: [{ type: 'lender.updated' }] },
  );

  let settled = 0;
  return {
    login,
    victim,
    accountId,
    subscriptionId: own.id.split('/').at(-1) ?? '',
    receiver,
    foreign: foreign as Attack['foreign'],
    async settle() {
      settled += 1;
      await updateLender(operator, { lenderId: lender.id, name: `Name ${settled}` });
      await receiver.waitFor(settled);
      await eventually(async () => expect(await harness.sql('select from webhook_event_queue')).toEqual([]));
    },
  };
}

const typesOf = ({ deliveries }: Receiver) => deliveries.map(({ headers }) => headers['x-service-webhook-event']);

const insertRetry = `
  insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id, last_id)
  values ($1, 'lender', $2, $3, false, 1, $3, $3::bigint + 1, $3::bigint - 1)`;

test('it cannot ask for the delivery of a partner, who can still retry it', async ({ shared, receiver: partner }) => {
  const { login, victim, accountId, subscriptionId, foreign } = await attack(shared, partner);
  await expect(login.run(insertRetry, [accountId, subscriptionId, foreign.deliveryId])).rejects.toThrow(
    `The subscription ${subscriptionId} has no delivery ${foreign.deliveryId}.`,
  );
  const [delivery] = await shared.deliveries(victim);
  const { userErrors } = await retryWebhookDelivery(shared.partnerApi, victim, {
    id: delivery?.id ?? missing(),
  });
  expect(userErrors).toEqual([]);
  await partner.waitFor(2);
});

test('the worker sends the delivery of a partner to no other account, whatever id a retry names', async ({
  shared,
  receiver: partner,
}) => {
  const { accountId, subscriptionId, receiver, foreign, settle } = await attack(shared, partner);
  // As a login could before the database refused it.
  await shared.sql(insertRetry, [accountId, subscriptionId, foreign.deliveryId]);
  await shared.sql(
    `insert into webhook_event_queue (account_id, interface, subscription_id) values ($1, 'lender', $2)`,
    [accountId, subscriptionId],
  );
  const replays = 'select queued, skipped from webhook_replay where ended_at is not null and account_id = $1';
  const ended = () => shared.sql(replays, [accountId]);
  await eventually(async () => expect(await ended()).toHaveLength(1));
  await settle();
  expect(await ended()).toEqual([{ queued: 0, skipped: 0 }]);
  expect(typesOf(receiver)).toEqual(['lender.updated']);
  expect(partner.deliveries).toHaveLength(1);
});

test('an event or a subscription of a partner in the queue of the lender leads to nothing', async ({
  shared,
  receiver: partner,
}) => {
  const { login, victim, accountId, subscriptionId, receiver, foreign, settle } = await attack(shared, partner);
  await settle();
  const [own] = await shared.sql('select event_id::text as id from webhook_delivery where account_id = $1', [
    accountId,
  ]);
  await login.run(
    `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
     values ($1, 'lender', 'referral.created', '2026-11-01')`,
    [subscriptionId],
  );
  for (const [eventId, id] of [
    [foreign.eventId, null],
    [foreign.eventId, subscriptionId],
    [own?.['id'], foreign.subscriptionId],
    [null, foreign.subscriptionId],
    [null, subscriptionId],
  ])
    await login.run(
      `insert into webhook_event_queue (account_id, interface, event_id, subscription_id) values ($1, 'lender', $2, $3)`,
      [accountId, eventId, id],
    );
  await settle();
  expect(typesOf(receiver)).toEqual(['lender.updated', 'lender.updated']);
  expect(partner.deliveries).toHaveLength(1);
  await shared.refer(1, victim);
  await partner.waitFor(2);
});

test('it marks no subscription of a partner, and a mark in the future stops nothing', async ({
  shared,
  receiver: partner,
}) => {
  const { login, subscriptionId, foreign, settle } = await attack(shared, partner);
  const mark = (time: string) =>
    login.run(`update webhook_subscription set hastened_at = ${time}, send_pending_at = ${time} returning id::text`);
  await expect(mark(`'infinity'`)).rejects.toThrow('violates check constraint');
  for (const time of ['clock_timestamp()', `'9999-12-31Z'`]) {
    expect(await mark(time)).toContainEqual({ id: subscriptionId });
    await settle();
  }
  expect(
    await shared.sql('select hastened_at, send_pending_at from webhook_subscription where id = $1', [
      foreign.subscriptionId,
    ]),
  ).toEqual([{ hastened_at: null, send_pending_at: null }]);
});

test('no row of it ends a worker, or stops one', async ({ shared, receiver: partner }) => {
  const { login, victim, accountId, subscriptionId, settle } = await attack(shared, partner);
  const bound = 'violates check constraint';
  const replay = (types: string) =>
    `insert into webhook_replay (account_id, interface, subscription_id, event_types, only_failed, per_second, from_id, until_id, last_id)
     values (${accountId}, 'lender', ${subscriptionId}, ${types}, true, 1, 0, 9223372036854775807, 0)`;
  const eventTypes = (count: number, length: number) =>
    `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
     select ${subscriptionId}, 'lender', lpad(g::text, ${length}, 'a'), 'x' from generate_series(1, ${count}) g`;
  const queue = (eventId: string) =>
    `insert into webhook_event_queue (account_id, interface, event_id) values (${accountId}, 'lender', ${eventId})`;
  const subscriptions = (count: number) =>
    `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
     select ${accountId}, 'lender', '', '', 0 from generate_series(1, ${count})`;
  for (const [statement, refusal] of [
    [replay(`array[repeat('a', 1000000)]`), bound],
    [replay(`array_fill('a'::text, array[101])`), bound],
    [`update webhook_subscription set callback_url = 'https://x/' || repeat('a', 1000000)`, bound],
    [`update webhook_subscription set secret_ciphertext = convert_to(repeat('a', 1000000), 'UTF8')`, bound],
    [eventTypes(1, 100_000), bound],
    [eventTypes(100, 100), `The subscription ${subscriptionId} may have 100 event types.`],
    [subscriptions(20), `The account ${accountId} may have 20 subscriptions.`],
    [queue('0'), bound],
    [queue('-1'), bound],
  ] as const)
    await expect(login.run(statement)).rejects.toThrow(refusal);
  await settle();
  await shared.refer(1, victim);
  await partner.waitFor(2);
});
