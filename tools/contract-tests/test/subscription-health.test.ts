import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { missing, type Receiver, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import { newest } from './support/interface-contracts.ts';
import {
  insertAttempts,
  insertDelivery,
  insertPending,
  insertSubscription,
  type StoredSubscription,
} from './support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const t = await startInterfaces(harness);
const receiver: Receiver = await forFile(startReceiver());

const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const fields = `state consecutiveFailures failingSince lastFailureAt lastDeliveredAt breakerOpenUntil pendingCount
  pendingCountIsLowerBound oldestPendingAt`;
const clean = {
  state: 'HEALTHY',
  consecutiveFailures: 0,
  failingSince: null,
  lastFailureAt: null,
  lastDeliveredAt: null,
  breakerOpenUntil: null,
  pendingCount: 0,
  pendingCountIsLowerBound: false,
  oldestPendingAt: null,
};

describe.each(newest)('the $account interface', ({ account: name, date }) => {
  const account = harness.accounts[name];
  const { send, request, mutate } = createInterfaceClient(t, name, date);
  let subscription: StoredSubscription;

  beforeEach(async () => {
    await harness.forgetHandshakes();
    await harness.sql('update webhook_subscription set deleted_at = now() where deleted_at is null');
    subscription = await insertSubscription(harness, name, account);
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- each test asks for other fields
  const ask = async (query: string, variables: object = {}): Promise<any> => (await send(query, variables)).body;

  const read = (selection: string, id = subscription.gid) =>
    request<unknown>(`query ($id: ID!) { webhookSubscription(id: $id) { ${selection} } }`, { id });

  const readHealth = () => read(`health { ${fields} }`);

  const failSince = (seconds: number) =>
    harness.sql(
      `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes, failing_since, last_failure_at)
       values (${subscription.id}, 1, 3, 0, now() - ${seconds} * interval '1 second', now())`,
    );

  const change = (set: string) => harness.sql(`update webhook_subscription set ${set} where id = ${subscription.id}`);

  const countHour = (hoursAgo: number, counter: number, counts: string) =>
    harness.sql(
      `insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed,
         longest_wait_seconds, last_delivered_at)
       select ${subscription.id}, h, ${counter}, '${name}', ${counts}
       from (select date_trunc('hour', now(), 'UTC') - ${hoursAgo} * interval '1 hour' as h) hour`,
    );

  test('HEALTHY without attempts, and RETRYING and FAILING by what is stored about the callback URL', async () => {
    expect(await readHealth()).toEqual({ health: clean });
    await failSince(299);
    const failing = {
      ...clean,
      state: 'RETRYING',
      consecutiveFailures: 3,
      failingSince: isTime,
      lastFailureAt: isTime,
    };
    expect(await readHealth()).toEqual({ health: failing });
    await harness.sql(
      `update webhook_receiver_state set failing_since = now() - interval '5 minutes' where subscription_id = ${subscription.id}`,
    );
    expect(await readHealth()).toEqual({ health: { ...failing, state: 'FAILING' } });
    await harness.sql(
      `update webhook_receiver_state set failing_since = now(), breaker_open_until = now() where subscription_id = ${subscription.id}`,
    );
    expect(await readHealth()).toEqual({ health: { ...failing, state: 'FAILING', breakerOpenUntil: isTime } });
    // The proxy may be the cause of its failures.
    await harness.sql(
      `update webhook_receiver_state set failing_since = null, last_failure_at = null, breaker_open_until = null where subscription_id = ${subscription.id}`,
    );
    expect(await readHealth()).toEqual({ health: { ...clean, state: 'RETRYING', consecutiveFailures: 3 } });
    await change('url_number = 2');
    expect(await readHealth()).toEqual({ health: clean });
  });

  test('PAUSED, with the pending deliveries', async () => {
    await failSince(600);
    const delivery = await insertDelivery(harness, subscription, { createdAt: new Date(Date.now() - 60_000) });
    await insertPending(harness, subscription, delivery, { dueInSeconds: 600 });
    await change(`paused_reason = 'OWNER', paused_at = now()`);
    expect(await readHealth()).toMatchObject({
      health: { state: 'PAUSED', consecutiveFailures: 3, pendingCount: 1, oldestPendingAt: isTime },
    });
    expect(await read('deliveries { nodes { createdAt } } health { oldestPendingAt }')).toMatchObject({
      deliveries: { nodes: [{ createdAt: isTime }] },
    });
  });

  test('tells the last failure, of each subscription of a list, until an attempt of its delivery succeeds', async () => {
    const second = await insertSubscription(harness, name, account);
    const deliveries = [await insertDelivery(harness, subscription), await insertDelivery(harness, second)];
    const lastFailure = 'lastFailure { responseStatus error advice deliveryId }';
    expect(await read(`health { ${lastFailure} }`)).toEqual({ health: { lastFailure: null } });
    for (const [index, each] of [subscription, second].entries()) {
      const delivery = deliveries[index] ?? missing();
      await insertAttempts(harness, each, delivery, [500, 503]);
      await harness.sql(
        `insert into webhook_receiver_state
           (subscription_id, url_number, consecutive_failures, breaker_probes, last_failure_at, last_failed_delivery_id)
         values (${each.id}, 1, ${index}, 0, now(), ${delivery.id})`,
      );
    }
    const list = async () => {
      const { data } = await ask(`{ webhookSubscriptions(first: 2) { nodes { health { ${lastFailure} } } } }`);
      return data.webhookSubscriptions.nodes.map(({ health }: { health: object }) => Object(health).lastFailure);
    };
    const failure = (index: number) => ({
      responseStatus: 503,
      error: null,
      advice: expect.stringContaining('unavailable'),
      deliveryId: deliveries[index]?.gid,
    });
    // What is known of a receiver without failures is of the time before.
    expect(await list()).toEqual([failure(1), null]);
    // A failure paused the subscription: the pause has cleared its count.
    await change(`paused_reason = 'FAILING', paused_at = now()`);
    expect(await list()).toEqual([failure(1), failure(0)]);
    await harness.sql(
      `update webhook_attempt set response_status = 204 where number = 2 and delivery_id = ${deliveries[1]?.id}`,
    );
    expect(await list()).toEqual([null, failure(0)]);
    await change('url_number = 2');
    expect(await list()).toEqual([null, null]);
  });

  test('counts exactly up to 1,000', async () => {
    const first = await insertDelivery(harness, subscription);
    await insertPending(harness, subscription, first);
    const add = (count: number) =>
      harness.sql(
        `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
           event_version, occurred_at, sequence, due_at, body_bytes)
         select ${subscription.id}, ${first.id} + 100000 + n, ${account.accountId}, '${name}', 1, 'webhook.test', '2026-11-01', now(), 1,
           now(), 9
         from generate_series((select count(*) from webhook_pending_delivery where subscription_id = ${subscription.id}),
           ${count} - 1) n`,
      );
    await add(1_000);
    expect(await read('health { pendingCount pendingCountIsLowerBound }')).toEqual({
      health: { pendingCount: 1_000, pendingCountIsLowerBound: false },
    });
    await add(1_001);
    expect(await read('health { pendingCount pendingCountIsLowerBound }')).toEqual({
      health: { pendingCount: 1_000, pendingCountIsLowerBound: true },
    });
  });

  test('statistics add up what processes counted in each hour, oldest first, with the empty hours', async () => {
    // The shard has returned to the first process.
    await countHour(0, 1, `5, 2, 1, 7, '2026-11-20T10:09Z'`);
    await countHour(0, 2, `1, 0, 0, 90, '2026-11-20T10:05Z'`);
    await countHour(0, 3, `2, 0, 0, 8, '2026-11-20T10:07Z'`);
    await countHour(2, 1, '0, 4, 0, null, null');
    await countHour(167, 1, `1, 0, 0, 1, '2026-11-13T10:05Z'`);
    await countHour(168, 1, `9, 9, 9, 9, '2026-11-13T09:05Z'`);
    const counts = 'hour deliveredCount failedAttemptCount failedCount longestWaitSeconds';
    const empty = { deliveredCount: 0, failedAttemptCount: 0, failedCount: 0, longestWaitSeconds: null };
    const result = (await read(`all: statistics(hours: 168) { ${counts} } statistics(hours: 3) { ${counts} }
      byDefault: statistics { hour } byNull: statistics(hours: null) { hour } health { lastDeliveredAt }`)) as Record<
      'all' | 'statistics' | 'byDefault' | 'byNull',
      { hour: string }[]
    >;
    expect(result.statistics).toEqual([
      { ...empty, hour: isTime, failedAttemptCount: 4 },
      { ...empty, hour: isTime },
      { hour: isTime, deliveredCount: 8, failedAttemptCount: 2, failedCount: 1, longestWaitSeconds: 90 },
    ]);
    expect(result.all).toHaveLength(168);
    expect(result.all.slice(-3)).toEqual(result.statistics);
    expect(result.all[0]).toMatchObject({ deliveredCount: 1, longestWaitSeconds: 1 });
    const hours = result.all.map(({ hour }) => Date.parse(hour));
    expect(new Set(hours.map((start, index) => start - index * 3_600_000)).size).toBe(1);
    expect(hours.at(-1)).toBe(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    expect(result.byDefault).toEqual(result.all.slice(-24).map(({ hour }) => ({ hour })));
    expect(result.byNull).toEqual(result.byDefault);
    expect(result).toMatchObject({ health: { lastDeliveredAt: '2026-11-20T10:09:00.000Z' } });
  });

  test.each([0, 169])('refuses statistics of %i hours, with what was found', async (hours) => {
    const { data, errors } = await ask(
      `query ($id: ID!, $hours: Int) { webhookSubscription(id: $id) { id statistics(hours: $hours) { hour } } }`,
      { id: subscription.gid, hours },
    );
    expect(data).toEqual({ webhookSubscription: null });
    expect(errors).toMatchObject([
      { message: `\`hours\` must be 1 to 168; it is ${hours}.`, extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  test('a list reads the health and statistics of all its subscriptions, and charges what was counted', async () => {
    const second = await insertSubscription(harness, name, account);
    await failSince(600);
    const { data, extensions } = await ask(
      `{ webhookSubscriptions(first: 2) { nodes { id health { state } statistics(hours: 2) { hour } } } }`,
    );
    expect(data.webhookSubscriptions.nodes).toEqual([
      { id: second.gid, health: { state: 'HEALTHY' }, statistics: [{ hour: isTime }, { hour: isTime }] },
      { id: subscription.gid, health: { state: 'FAILING' }, statistics: [{ hour: isTime }, { hour: isTime }] },
    ]);
    const delivery = await insertDelivery(harness, second);
    await harness.sql(
      `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
         event_version, occurred_at, sequence, due_at, body_bytes)
       select ${second.id}, ${delivery.id} + n, ${account.accountId}, '${name}', 1, 'webhook.test', '2026-11-01', now(), 1, now(), 9
       from generate_series(0, 1999) n`,
    );
    const again = await ask(
      `{ webhookSubscriptions(first: 2) { nodes { id health { state } statistics(hours: 2) { hour } } } }`,
    );
    const { requestedQueryCost, actualQueryCost } = again.extensions.cost;
    expect(actualQueryCost - extensions.cost.actualQueryCost).toBe(5);
    expect(requestedQueryCost).toBe(extensions.cost.requestedQueryCost);
  });

  test('a subscription has the name that its owner gives it, and null removes it', async () => {
    const [{ type } = missing()] = await request<{ type: string }[]>('{ webhookEventTypes { type } }');
    const create = (names: object) =>
      mutate<{ webhookSubscription: { id: string } | null }>(
        'createWebhookSubscription',
        'webhookSubscription { id name health { state } }',
        { callbackUrl: receiver.url, eventTypes: [{ type }], ...names },
      );
    const created = await create({ name: 'Orders' });
    expect(created).toMatchObject({
      webhookSubscription: { name: 'Orders', health: { state: 'HEALTHY' } },
      userErrors: [],
    });
    const { id } = created.webhookSubscription ?? missing();
    const rename = (fieldsOfInput: object) =>
      mutate('updateWebhookSubscription', 'webhookSubscription { name }', { id, ...fieldsOfInput });
    const handshakes = receiver.handshakes.length;
    expect(await rename({ name: '注文 – été' })).toEqual({
      webhookSubscription: { name: '注文 – été' },
      userErrors: [],
    });
    expect(await rename({})).toMatchObject({ webhookSubscription: { name: '注文 – été' } });
    expect(await rename({ eventTypes: null, callbackUrl: null })).toMatchObject({
      webhookSubscription: { name: '注文 – été' },
    });
    for (const invalid of ['', ' ', 'a'.repeat(101), 'a\u0007b', 'a\u202Eb', 'a\nb']) {
      const refused = [
        { code: 'NAME_INVALID', field: ['input', 'name'], message: expect.stringContaining('This one ') },
      ];
      expect(await rename({ name: invalid })).toEqual({ webhookSubscription: null, userErrors: refused });
      expect(await create({ name: invalid })).toEqual({ webhookSubscription: null, userErrors: refused });
    }
    expect(receiver.handshakes).toHaveLength(handshakes);
    expect(await read('name', id)).toEqual({ name: '注文 – été' });
    const env = { DATABASE_URL: await harness.database.urlFor('operator') };
    expect((await callOperator(env, 'subscription', 'list')).stdout).toContain('  注文 – été  ');
    expect((await callOperator(env, 'subscription', 'show', id)).stdout).toMatch(/^name {2,}注文 – été$/m);
    expect(await rename({ name: null })).toMatchObject({ webhookSubscription: { name: null } });
    const [entry] = await harness.sql(
      `select details from audit_entry where action = 'webhook_subscription.update' order by at desc, number desc limit 1`,
    );
    expect(entry).toEqual({
      details: {
        callbackUrlChanged: false,
        eventTypesChanged: false,
        nameChanged: true,
        keyId: expect.any(String),
      },
    });
  });

  test('the operator gets the same health', async () => {
    await failSince(600);
    await countHour(1, 1, `5, 2, 1, 7, '2026-11-20T10:05Z'`);
    const shown = Object(await readHealth());
    expect(shown.health).toMatchObject({ state: 'FAILING', lastDeliveredAt: '2026-11-20T10:05:00.000Z' });
    const env = { DATABASE_URL: await harness.database.urlFor('operator') };
    const json = await callOperator(env, 'subscription', 'show', subscription.gid, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject(shown);
    const { stdout } = await callOperator(env, 'subscription', 'show', subscription.gid);
    expect(stdout).toMatch(/^health {2,}FAILING$/m);
    expect(stdout).toMatch(/^last delivered {2,}2026-11-20T10:05:00\.000Z$/m);
  });
});
