import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callOperator, callOperatorWith, startTestSystem } from '@deedwire/dev-environment/harness';
import { connect, eventually, missing, startReceiver, untilBlocked } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { killOperator } from '../support/cells/operator-process.ts';
import { accepted, events, findIn, numberOf, orderTypes, person, startErasing, whole } from '../support/erasing.ts';
import { subscribe as subscribeTo } from '../support/subscribe.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PlaceDocument } from '../support/webhook-operations.ts';

const {
  t,
  lines,
  customer,
  otherCustomer,
  env,
  dump,
  good,
  broken,
  ask,
  subscribe,
  erase,
  erasable,
  list,
  statusesOf,
  retry,
  place,
  plant,
  remove,
} = await startErasing();

describe('an address of two accounts', () => {
  test('is erased for each, whatever it is in, and everything else stays provable', async () => {
    const { path: folder } = await forTest(temporaryFolder('person-erase'));
    let release: (() => void) | undefined;
    const hanging = await forTest(
      startReceiver({
        onDelivery: (response) => (release = () => response.writeHead(500).end(person.note)),
      }),
    );
    const early = { good: await subscribe(good), broken: await subscribe(broken) };
    const { createWebhookListener: listener } = await ask(
      `mutation ($input: CreateWebhookListenerInput!) { createWebhookListener(input: $input) { webhookListener { id } } }`,
      { input: { eventTypes: orderTypes.map((type) => ({ type })) } },
    );
    onTestFinished(async () => {
      await ask(
        `mutation ($input: DeleteWebhookListenerInput!) { deleteWebhookListener(input: $input) { userErrors { message } } }`,
        { input: { id: listener.webhookListener.id } },
      );
    });
    // Another person of the account stays as it is.
    const other = { item: 'Tea', buyerEmail: 'grace@buyer.example', note: 'Grace Hopper' };
    const { order: kept } = await place('Another person', other);
    await broken.waitFor(1);
    const subscriptions = { ...early, hanging: await subscribe(hanging), paused: await subscribe(good) };
    await ask(
      `mutation ($input: PauseWebhookSubscriptionInput!) {
      pauseWebhookSubscription(input: $input) { userErrors { message } } }`,
      { input: { id: subscriptions.paused } },
    );

    const { order } = await place('Key of the person');
    const orderId = order.id;
    const ofOther = await plant(otherCustomer);
    await eventually(async () => {
      expect(await t.sql('select from webhook_event_queue where blocked_on is null')).toEqual([]);
      expect(good.deliveries).toHaveLength(2);
      expect(broken.deliveries.length).toBeGreaterThanOrEqual(2);
      expect(hanging.deliveries).toHaveLength(1);
      expect(await t.sql('select from webhook_exchange where body is not null')).not.toHaveLength(0);
    });
    // One that no build can fan out, and one from an app of an early release.
    const [event] = await t.sql(
      `insert into webhook_event (account_id, interface, event_type, snapshot)
       select account_id, interface, event_type, snapshot from webhook_event where record_id = $1 limit 1 returning id`,
      [numberOf(orderId)],
    );
    // Without it, a worker sends the event: it examines what is blocked each minute, and when it takes a shard over.
    await t.sql(
      `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
       values ($1, 'customer', 'later.event', '2027-06-01')`,
      [numberOf(subscriptions.paused)],
    );
    await t.sql(
      `insert into webhook_event_queue (account_id, interface, event_id, blocked_on) values ($1, 'customer', $2, 'later.event')`,
      [customer.accountId, event?.['id']],
    );
    await t.sql('analyze customer_order');
    expect(findIn(await dump())).toEqual(expect.arrayContaining([Buffer.from(person.note).toString('hex')]));

    // Written in another case, and with combining characters.
    const address = person.buyerEmail.normalize('NFD').toUpperCase();
    const refused = await erase('--email', address, '--yes');
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Several accounts have this address'),
    });
    expect(refused.stdout).toContain(orderId);
    expect(refused.stdout).toContain(ofOther);
    const before = await erasable();
    const dry = await erase('--email', address, '--account', customer.id, '--dry-run', '--json');
    expect(dry).toMatchObject(accepted);
    expect(JSON.parse(dry.stdout)).toEqual({
      records: [{ recordId: orderId, accountId: customer.id }],
      tables: expect.arrayContaining([
        { table: 'customer_order', rows: 1 },
        { table: 'webhook_event', rows: 2 },
        { table: 'webhook_event_queue', rows: 1 },
        { table: 'webhook_payload', rows: 1 },
      ]),
      unfinished: [],
      contactAccountIds: [],
      namedByEvents: [],
      unreadable: [],
    });
    expect(await erasable()).toEqual(before);

    // A request is being sent.
    const linesBefore = lines.length;
    const [{ id: hangingDelivery } = missing()] = await list(subscriptions.hanging);
    const attempts = hanging.deliveries.length;
    await retry(hangingDelivery);
    await hanging.waitFor(attempts + 1);
    let hasEnded = false;
    const erasing = erase('--email', address, '--account', customer.id, '--yes').then((result) => {
      hasEnded = true;
      return result;
    });
    await eventually(async () =>
      expect(await t.sql('select from webhook_delivery where erased_at is not null')).not.toEqual([]),
    );
    expect(hasEnded).toBe(false);
    release?.();
    expect(await erasing).toEqual({ ...accepted, stdout: expect.stringContaining('Nothing of it is left') });
    expect(await erase('--record', ofOther, '--yes')).toMatchObject(accepted);
    const sentBefore = [good, broken, hanging].map(({ deliveries: sent }) => sent.length);
    expect(findIn(await dump())).toEqual([]);
    expect(await t.sql('select from person_erasure')).toEqual([]);

    // Records.
    expect(
      await t.sql('select id::text, item, buyer_email, note from customer_order where account_id = $1 order by id', [
        customer.accountId,
      ]),
    ).toEqual([
      { id: numberOf(kept.id), item: 'Tea', buyer_email: other.buyerEmail, note: other.note },
      { id: numberOf(orderId), item: 'Tea', buyer_email: null, note: null },
    ]);

    // What is shown.
    expect(await statusesOf(subscriptions.good)).toEqual(['DELIVERED ERASED', 'DELIVERED null']);
    for (const each of [subscriptions.broken, subscriptions.hanging, subscriptions.paused]) {
      const statuses = await statusesOf(each);
      expect(new Set(statuses.filter((status: string) => status.endsWith('ERASED')))).toEqual(
        new Set(['EXPIRED ERASED']),
      );
      expect(await statusesOf(each, 'EXPIRED')).not.toEqual([]);
      expect(await statusesOf(each, 'FAILED')).toEqual([]);
    }
    const pulled = (await ask(events, { id: listener.webhookListener.id })).webhookEvents;
    expect(
      pulled.edges.map(({ sequence, node }) => [Number(sequence), node.payload === null, node.payloadDeletion]),
    ).toEqual([
      [1, false, null],
      [2, true, 'ERASED'],
    ]);
    for (const subscription of [subscriptions.good, subscriptions.broken]) {
      for (const { id: shown } of await list(subscription))
        expect(findIn(JSON.stringify(await ask(whole, { id: shown })))).toEqual([]);
      expect(findIn(JSON.stringify(await ask(events, { id: subscription })))).toEqual([]);
    }

    // A receiver still proves that it has everything. Bodies that are erased are not compared.
    const received = join(folder, 'received.log');
    const own = good.deliveries.filter(
      ({ headers }) => headers['x-service-webhook-subscription-id'] === subscriptions.good,
    );
    const logged = own.map(({ headers, body }) => ({ deliveryId: headers['webhook-id'], body: body.toString() }));
    await writeFile(received, logged.map((line) => JSON.stringify(line)).join('\n'));
    const reconciled = await callOperator(
      env,
      'subscription',
      'reconcile',
      subscriptions.good,
      '--log',
      received,
      '--json',
    );
    expect(reconciled).toMatchObject(accepted);
    expect(JSON.parse(reconciled.stdout)).toMatchObject({ compared: 2, comparedBodies: 1, missingCount: 0 });

    // What can be asked for.
    const [first = missing()] = await list(subscriptions.broken, 'EXPIRED');
    expect((await ask(whole, { id: first.id })).webhookDelivery).toMatchObject({
      payload: null,
      preview: null,
      nextAttemptAt: null,
      delay: null,
    });
    expect(await retry(first.id)).toEqual([
      {
        code: 'PAYLOAD_UNAVAILABLE',
        message:
          'The payload of the delivery is deleted, because the person whom it named was erased. There is nothing to send.',
      },
    ]);
    const { replayWebhookEvents: replayed } = await ask(
      `mutation ($input: ReplayWebhookEventsInput!) { replayWebhookEvents(input: $input) { webhookReplay { id } userErrors { message } } }`,
      { input: { subscriptionId: subscriptions.good, onlyFailed: false, since: '2026-01-02T00:00:00Z' } },
    );
    await eventually(async () => {
      const { webhookReplay: replay } = await ask(
        'query ($id: ID!) { webhookReplay(id: $id) { status queuedCount skippedCount skippedPendingCount } }',
        { id: replayed.webhookReplay.id },
      );
      expect(replay).toEqual({ status: 'COMPLETED', queuedCount: 1, skippedCount: 1, skippedPendingCount: 0 });
    });
    expect((await place('Key of the person')).userErrors).toEqual([{ code: 'IDEMPOTENCY_KEY_REUSED' }]);
    const later = [good, broken, hanging].flatMap(({ deliveries: sent }, index) => sent.slice(sentBefore[index]));
    expect(later.flatMap(({ body }) => findIn(body.toString()))).toEqual([]);

    // The log of changes says that, by whom and of which record, and nothing else.
    const { stdout } = await callOperator(env, 'audit', 'list', '--json', '--limit', '100');
    const all: { action: string; actor: string; subject: string; details: object }[] = JSON.parse(stdout);
    const entries = all.filter(({ action }) => action === 'person.erase');
    expect(entries.map(({ actor, subject, details }) => ({ actor, subject, details }))).toEqual([
      { actor: 'ada', subject: ofOther, details: { command: 'person.erase' } },
      { actor: 'ada', subject: orderId, details: { command: 'person.erase' } },
    ]);
    const log = join(folder, 'audit.jsonl');
    await writeFile(log, (await callOperator(env, 'audit', 'export', '--json')).stdout);
    expect(await callOperator(env, 'audit', 'verify', log)).toMatchObject(accepted);

    // Nothing is left for another run.
    for (const options of [
      ['--email', address],
      ['--record', orderId],
    ])
      expect(await erase(...options, '--yes')).toEqual({ ...accepted, stdout: 'Nothing is kept\n' });
    expect(lines.slice(linesBefore)).not.toEqual([]);
    expect(lines.slice(linesBefore).flatMap((line) => findIn(line))).toEqual([]);
  });
});

test('a removed order is found by its events, even by two commands at once', async () => {
  await subscribe(broken);
  const orderId = await plant(customer, false);
  await remove(orderId);
  const both = await Promise.all([
    erase('--email', person.buyerEmail, '--account', customer.id, '--yes'),
    erase('--record', orderId, '--yes'),
  ]);
  expect(both).toMatchObject([accepted, accepted]);
  expect(findIn(await dump())).toEqual([]);
});

test.each([
  ['has begun', 'select from person_erasure where record_id = $1'],
  [
    'has ended deliveries',
    'select from webhook_failed_delivery join webhook_delivery on id = delivery_id where is_erased and record_id = $1',
  ],
])('any later command finishes one that is killed when it %s', async (_, reached) => {
  await subscribe(broken);
  const [orderId, other] = [await plant(), await plant(otherCustomer)];
  await eventually(async () =>
    expect(await t.sql('select from webhook_pending_delivery where attempts > 0')).not.toEqual([]),
  );
  const number = numberOf(orderId);
  await killOperator(['person', 'erase', '--record', orderId, '--yes'], { ...env, NODE_ENV: 'test' }, async () =>
    expect(await t.sql(reached, [number])).not.toEqual([]),
  );
  // As if it had been killed after it erased an event from an app of an early release.
  await t.sql('update webhook_delivery set record_id = null where record_id = $1', [number]);
  await t.sql(`update webhook_event set record_id = null, snapshot = '{}' where record_id = $1`, [number]);
  expect(await erase('--record', other, '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from person_erasure')).toEqual([]);
  expect(findIn(await dump())).toEqual([]);
});

test('is erased again after the record was changed', async () => {
  await subscribe(broken);
  const orderId = await plant();
  expect(await erase('--record', orderId, '--yes')).toMatchObject(accepted);
  await t.sql('update customer_order set note = $2 where id = $1', [numberOf(orderId), person.note]);
  expect(await erase('--record', orderId, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
});

test.each([
  ['a record', false, ['--email', person.buyerEmail]],
  ['a record whose erasure was interrupted', true, ['--email', 'nobody@client.example']],
])('erases what was changed meanwhile of %s', async (_, isInterrupted, of) => {
  const orderId = await plant();
  const number = numberOf(orderId);
  if (isInterrupted) await t.sql(`select begin_person_erasure('Order', $1, $2)`, [number, customer.accountId]);
  const [blocker, observer] = [
    await forTest(connect(t.database.databaseUrl)),
    await forTest(connect(t.database.databaseUrl)),
  ];
  // VACUUM waits for it, and an update does not.
  await blocker.run('begin; lock table customer_order in share update exclusive mode');
  const erasing = erase(...of, '--yes');
  await untilBlocked(observer);
  await t.sql('update customer_order set note = $2 where id = $1', [number, person.note]);
  await blocker.run('commit');
  expect(await erasing).toEqual({ ...accepted, stdout: expect.stringContaining(orderId) });
  expect(findIn(await dump())).toEqual([]);
});

test('a delivery that a worker of an earlier release stored without its record is not sent', async () => {
  const receiver = await forTest(startReceiver({ onDelivery: (response) => response.writeHead(500).end() }));
  const subscription = await subscribe(receiver);
  const number = numberOf(subscription);
  const orderId = await plant();
  await eventually(async () =>
    expect(
      await t.sql('select from webhook_pending_delivery where subscription_id = $1 and attempts > 0', [number]),
    ).toHaveLength(1),
  );
  await t.sql('update webhook_delivery set record_id = null where subscription_id = $1', [number]);
  expect(await erase('--record', orderId, '--yes')).toMatchObject(accepted);
  const sent = receiver.deliveries.length;
  await ask(
    `mutation ($input: SendPendingWebhookDeliveriesInput!) {
       sendPendingWebhookDeliveries(input: $input) { userErrors { message } } }`,
    { input: { subscriptionId: subscription } },
  );
  await place('Another one', { item: 'Tea', buyerEmail: 'ida@buyer.example' });
  await receiver.waitFor(sent + 1);
  expect(receiver.deliveries.slice(sent).flatMap(({ body }) => findIn(body.toString()))).toEqual([]);
  expect((await statusesOf(subscription)).at(-1)).toBe('EXPIRED ERASED');
  expect(findIn(await dump())).toEqual([]);
});

test('a worker that was suspended for longer than its lease sends nothing of it when it goes on', async () => {
  const receiver = await forTest(startReceiver({ onDelivery: (response) => response.writeHead(500).end() }));
  const own = await forTest(
    startTestSystem({
      apps: ['customer-api', 'webhook-worker'],
      appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '500' } },
    }),
  );
  const { database, customer: api, sql, system } = own;
  const worker = system.apps['webhook-worker'];
  await subscribeTo(api, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] });
  await api.request(PlaceDocument, { input: { item: 'Tea', ...person } });
  await eventually(async () =>
    expect(await sql('select from webhook_pending_delivery where attempts = 1')).toHaveLength(1),
  );
  worker.kill('SIGSTOP');
  const urls = { DATABASE_URL: await database.urlFor('operator'), DATABASE_DIRECT_URL: database.databaseUrl };
  expect(
    await callOperatorWith({ env: { ...env, ...urls } }, 'person', 'erase', '--email', person.buyerEmail, '--yes'),
  ).toMatchObject({ exitCode: 0 });
  const { length: sent } = receiver.deliveries;
  // It is due.
  worker.kill('SIGCONT');
  await sleep(5_000);
  expect(receiver.deliveries.slice(sent)).toEqual([]);
});
