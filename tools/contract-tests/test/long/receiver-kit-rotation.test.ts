import { setTimeout as sleep } from 'node:timers/promises';
import { createHarness } from '@deedwire/dev-environment/harness';
import { createClient, eventually } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { expect, onTestFinished, test } from 'vitest';
import {
  installSvix,
  type LibraryReceiver,
  standard,
  startLibraryReceiver,
  type Verify,
} from '../support/library-receiver.ts';
import { startInstances } from '../support/receiver-kit/instances.ts';
import { startKitReceiver } from '../support/receiver-kit/kit-receiver.ts';
import type { Observed } from '../support/receiver-kit/observe.ts';
import { createReceiverDatabase, type ReceiverDatabase } from '../support/receiver-kit/receiver-database.ts';
import { subscribe } from '../support/subscribe.ts';
import { RotateSecretDocument, UnsubscribeDocument } from '../support/webhook-operations.ts';

// `rotateWebhookSecret` of the API, and the worker, with receivers of our kit and of two libraries. All in this process.

/** Guards against hanging: a rejected delivery is retried after 5 s, and after a third failure after up to 54 s. */
const waitMs = 120_000;
const pauseMs = 80;
const [oldSecret, newSecret] = [generateWebhookSecret(), generateWebhookSecret()];

const svix = await installSvix();

const t = await forFile(createHarness());
const api = await t.startApi('customer');
const client = createClient(`${api.url}/customer/graphql`, t.accounts.customer.credential);
let worker = await t.startWorker();

interface Load {
  /** Resolves when this many more events, and all before them, were delivered. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

async function expectNothingPending(before: number): Promise<void> {
  const [row] = await t.sql(`select count(*)::int as pending from webhook_pending_delivery where sequence <= $1`, [
    before,
  ]);
  expect(row?.['pending']).toBe(0);
}

async function deliveredCount(): Promise<number> {
  const [row] = await t.sql(
    'select min(last_sequence)::int as last from webhook_subscription_sequence q join webhook_subscription s on s.id = q.subscription_id where s.deleted_at is null',
  );
  return Number(row?.['last']);
}

/** Creates orders, each an event, until it is stopped. */
function startLoad(): Load {
  let isStopped = false;
  async function createInTurn(): Promise<void> {
    while (!isStopped) {
      await t.place(1);
      // Each is delivered to up to five receivers, which share two cores with the worker.
      await sleep(pauseMs);
    }
  }
  const running = createInTurn();
  onTestFinished(() => {
    isStopped = true;
    return running;
  });
  return {
    async more(count) {
      const last = (await deliveredCount()) + count;
      await eventually(async () => expect(await deliveredCount()).toBeGreaterThanOrEqual(last), waitMs);
      await eventually(() => expectNothingPending(last), waitMs);
    },
    async stop() {
      isStopped = true;
      await running;
      await eventually(() => expectNothingPending(Number.MAX_SAFE_INTEGER), waitMs);
    },
  };
}

/** Subscribes a receiver, which has the old secret, and deletes the subscription after the test. */
async function subscribeReceiver(callbackUrl: string): Promise<string> {
  const eventTypes = [{ type: 'order.placed' }];
  const { id } = await subscribe(client, { callbackUrl, eventTypes, webhookSecret: oldSecret });
  onTestFinished(async () => void (await client.request(UnsubscribeDocument, { input: { id } })));
  return id;
}

async function rotate(id: string, overlapSeconds: number): Promise<void> {
  const input = { id, webhookSecret: newSecret, overlapSeconds };
  const { rotateWebhookSecret } = await client.request(RotateSecretDocument, { input });
  expect(rotateWebhookSecret.userErrors).toEqual([]);
}

/** Lets every rotation end now. Nothing tells the worker, which reads a target again within 5 s. */
const endRotations = () =>
  t.sql('update webhook_subscription set rotation_ends_at = now() where rotation_ends_at is not null');

interface KitSubject {
  database: ReceiverDatabase;
  receiver: Observed;
  subscriptionId: string;
}

/** Starts a receiver of the kit with its own database, and subscribes it. */
async function startKit<Receiver extends Observed & { url: string; close(): Promise<void> }>(
  startReceiver: (databaseUrl: string) => Promise<Receiver>,
): Promise<KitSubject & { receiver: Receiver }> {
  const database = await forTest(createReceiverDatabase());
  const receiver = await forTest(startReceiver(database.databaseUrl));
  return { database, receiver, subscriptionId: await subscribeReceiver(receiver.url) };
}

async function startLibrary(verify: Verify): Promise<LibraryReceiver & { subscriptionId: string }> {
  const receiver = await forTest(startLibraryReceiver(verify, [oldSecret, newSecret]));
  return { ...receiver, subscriptionId: await subscribeReceiver(receiver.url) };
}

/** A receiver that has the given secrets at any time, in a variable. */
async function startVariableReceiver(databaseUrl: string) {
  let secrets = [oldSecret];
  return {
    ...(await startKitReceiver({ databaseUrl, secrets: () => secrets })),
    hold(...changed: string[]) {
      secrets = changed;
    },
  };
}

/** The requests to a receiver of the kit: how many signatures each has, and the response. Without repeats, in order. */
function exchangesOf({ receiver }: KitSubject): string[] {
  const requests = receiver.responses.filter(({ headers }) => headers['x-service-webhook-event'] !== undefined);
  return withoutRepeats(
    requests.map(({ headers, status }) => {
      const signatures = headers['webhook-signature']?.toString().split(' ').length;
      const next = headers['x-service-webhook-signature-next'] === undefined ? 0 : 1;
      return `${signatures} + ${next}: ${status}`;
    }),
  );
}

const withoutRepeats = (values: readonly string[]): string[] => [...new Set(values)];
const nameOf = (secret: string): string => (secret === oldSecret ? 'old' : 'new');
const signersOf = ({ received }: LibraryReceiver): string[] =>
  withoutRepeats(received.map(({ signedWith }) => signedWith.map(nameOf).join(' and ')));
const rejectedBy = ({ received }: LibraryReceiver) => received.filter(({ isAccepted }) => !isAccepted);

/** Every delivery has one effect. */
async function expectOneEffectEach(subjects: readonly KitSubject[]): Promise<void> {
  for (const { database, subscriptionId } of subjects) {
    const rows = await t.sql('select id from webhook_delivery where subscription_id = $1', [
      subscriptionId.split('/').at(-1),
    ]);
    const ids = rows.map(({ id }) => `gid://service/WebhookDelivery/${String(id)}`).toSorted();
    expect(ids.length).toBeGreaterThan(100);
    expect((await database.effects()).map(({ deliveryId }) => deliveryId).toSorted()).toEqual(ids);
  }
}

test('receivers that change their secrets at different times of a rotation under load reject no delivery', async () => {
  const early = await startKit((databaseUrl) => startInstances(databaseUrl, [oldSecret]));
  const late = await startKit((databaseUrl) => startInstances(databaseUrl, [oldSecret]));
  const variable = await startKit(startVariableReceiver);
  const kits = [early, late, variable];
  const libraries = [await startLibrary(standard), await startLibrary(svix)] as const;
  const load = startLoad();

  await load.more(30);
  await early.receiver.deploy(0, [oldSecret, newSecret]);
  await load.more(10);
  await early.receiver.deploy(1, [newSecret, oldSecret]);
  libraries[1].hold(oldSecret, newSecret);
  await load.more(10);

  for (const { subscriptionId } of [...kits, ...libraries]) await rotate(subscriptionId, 86_400);
  // Requests that were signed before it have a response.
  await load.more(40);
  await late.receiver.deploy(0, [newSecret]);
  libraries[0].hold(newSecret);
  await load.more(10);
  // Another worker takes over during the overlap.
  const next = await t.startWorker();
  await t.stopWorker(worker);
  worker = next;
  await load.more(10);
  await eventually(() => {
    expect(variable.receiver.inFlight()).toBeGreaterThan(0);
    variable.receiver.hold(newSecret);
  }, waitMs);
  await load.more(10);
  await late.receiver.deploy(1, [newSecret]);
  await load.more(10);

  await endRotations();
  await eventually(() => {
    for (const { received } of libraries) expect(received.at(-1)?.signatures).toBe(1);
  }, waitMs);
  await load.more(20);
  await early.receiver.deploy(0, [newSecret]);
  await early.receiver.deploy(1, [newSecret]);
  libraries[1].hold(newSecret);
  await load.more(10);
  await load.stop();

  for (const kit of kits) expect(exchangesOf(kit)).toEqual(['1 + 0: 200', '2 + 1: 200']);
  for (const library of libraries) {
    expect(rejectedBy(library)).toEqual([]);
    // What was signed before and after the overlap has one signature, by the old and the new secret.
    expect(signersOf(library)).toEqual(['old', 'old and new', 'new']);
  }
  await expectOneEffectEach(kits);
});

test('without an overlap, receivers with both secrets reject no delivery, and one with the new secret only what was signed before', async () => {
  const kit = await startKit(startVariableReceiver);
  const both = [await startLibrary(standard), await startLibrary(svix)] as const;
  const one = await startLibrary(standard);
  const load = startLoad();
  await load.more(30);
  kit.receiver.hold(oldSecret, newSecret);
  for (const receiver of both) receiver.hold(oldSecret, newSecret);
  await load.more(20);

  for (const { subscriptionId } of [kit, ...both, one]) await rotate(subscriptionId, 0);
  one.hold(newSecret);
  await load.more(30);
  kit.receiver.hold(newSecret);
  for (const receiver of both) receiver.hold(newSecret);
  await load.more(30);
  await load.stop();

  expect(exchangesOf(kit)).toEqual(['1 + 0: 200']);
  for (const receiver of both) {
    expect(rejectedBy(receiver)).toEqual([]);
    expect(signersOf(receiver)).toEqual(['old', 'new']);
  }
  // They were in flight, or started before the worker read the change. Each was delivered again.
  const rejected = rejectedBy(one);
  process.stderr.write(
    `${rejected.length} of ${one.received.length} requests were signed before the rotation and arrived after it.\n`,
  );
  expect(withoutRepeats(rejected.map(({ signedWith }) => signedWith.map(nameOf).join()))).toEqual(
    rejected.length === 0 ? [] : ['old'],
  );
  expect(signersOf(one)).toEqual(['old', 'new']);
  await expectOneEffectEach([kit]);
});
