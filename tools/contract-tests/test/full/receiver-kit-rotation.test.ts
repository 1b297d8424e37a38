import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen, eventually } from '@deedwire/testing';
import { honoHandler } from '@deedwire/webhook-receiver/hono';
import { createWebhookSender, type WebhookSender } from '@deedwire/webhook-sender';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startInstances } from '../support/receiver-kit/instances.ts';
import { createKitReceiver, startKitReceiver } from '../support/receiver-kit/kit-receiver.ts';
import { type KitResponse, type Observed, observe } from '../support/receiver-kit/observe.ts';
import { createReceiverDatabase, type ReceiverDatabase } from '../support/receiver-kit/receiver-database.ts';
import { receiverPath } from '../support/receiver-kit/servers.ts';
import { type SentDelivery, type SignedLoad, startSignedLoad } from '../support/receiver-kit/signed-load.ts';

const timeout = 300_000;
const [oldSecret, newSecret] = [generateWebhookSecret(), generateWebhookSecret()];
/** The secrets with which the worker signs before, during and after the overlap. */
const before = { secret: oldSecret, nextSecret: null };
const overlap = { secret: oldSecret, nextSecret: newSecret };
const after = { secret: newSecret, nextSecret: null };

let sender: WebhookSender;

beforeAll(() => {
  // The usual deadline of 5 s would fail the test on a machine that is busy for so long.
  sender = createWebhookSender({ policy: 'development', userAgent: 'Deedwire-Webhooks/1.0.0', timeoutMs: 60_000 });
});

afterAll(() => sender.close());

/** A receiver, its database, and what is delivered to it. */
interface Subject {
  database: ReceiverDatabase;
  receiver: Observed;
  load: SignedLoad;
}

/** Creates the database of a receiver, starts the receiver, and delivers to it. Everything is closed after the test. */
async function start<Receiver extends Observed & { url: string; close(): Promise<void> }>(
  startReceiver: (databaseUrl: string) => Promise<Receiver>,
): Promise<Subject & { receiver: Receiver }> {
  const database = await createReceiverDatabase();
  onTestFinished(() => database.close());
  const receiver = await startReceiver(database.databaseUrl);
  onTestFinished(() => receiver.close());
  const load = startSignedLoad(sender, receiver.url, before);
  onTestFinished(() => load.stop());
  return { database, receiver, load };
}

/** A receiver on Hono that reads its secret from the file that the bindings name, as platforms mount secrets. */
async function startFileReceiver(databaseUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'rotation-'));
  const bindings = { secretFile: join(folder, 'secret') };
  const receiver = createKitReceiver({
    databaseUrl,
    secrets: async ({ secretFile }: typeof bindings) => [await readFile(secretFile, 'utf8')],
  });
  const app = new Hono();
  app.post(receiverPath, honoHandler(receiver));
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request, bindings) });
  const observed = observe(server);
  const listening = await listen(server);
  const replace = async (secret: string): Promise<void> => {
    const file = join(folder, 'replacement');
    await writeFile(file, secret);
    await rename(file, bindings.secretFile);
  };
  await replace(oldSecret);
  return {
    ...observed,
    url: `http://127.0.0.1:${listening.port}${receiverPath}`,
    replace,
    async close() {
      await receiver.close();
      await listening.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A receiver that has one secret at any time, in a variable. */
async function startVariableReceiver(databaseUrl: string) {
  let secret = oldSecret;
  return {
    ...(await startKitReceiver({ databaseUrl, secrets: () => [secret] })),
    set(changed: string) {
      secret = changed;
    },
  };
}

const nameOf = (secret: string | null): string =>
  secret === oldSecret ? 'old' : secret === newSecret ? 'new' : 'none';

/** Which secrets made the signatures of a request, by header. */
function signersOf({ headers }: KitResponse, body: Uint8Array): Record<string, string> {
  const id = String(headers['webhook-id']);
  const timestamp = Number(headers['webhook-timestamp']);
  const signers = new Map<string, string>();
  for (const secret of [oldSecret, newSecret]) {
    const signature = signWebhook({ id, timestamp, body, secret });
    signers.set(signature['webhook-signature'], nameOf(secret));
    signers.set(signature['x-service-webhook-signature'], nameOf(secret));
  }
  return Object.fromEntries(
    ['x-service-webhook-signature', 'x-service-webhook-signature-next', 'webhook-signature'].map((name) => {
      const signatures = headers[name]?.toString().split(' ') ?? [];
      return [name, signatures.map((signature) => signers.get(signature) ?? 'unknown').join(' ')];
    }),
  );
}

function phaseOf({ signedWith }: SentDelivery): string {
  return signedWith.nextSecret === null ? nameOf(signedWith.secret) : 'overlap';
}

/** What a load and its receiver saw, without repeats. */
function resultsOf({ load, receiver }: Subject) {
  const sent = new Map(load.sent.map((delivery) => [`${delivery.webhookId} ${delivery.attempt}`, delivery]));
  const requests = receiver.responses.flatMap((response) => {
    const { 'webhook-id': webhookId, 'x-service-webhook-attempt': attempt } = response.headers;
    const delivery = sent.get(`${String(webhookId)} ${String(attempt)}`);
    if (delivery === undefined) return [];
    return [{ phase: phaseOf(delivery), status: response.status, ...signersOf(response, delivery.body) }];
  });
  return [...new Set(requests.map((request) => JSON.stringify(request)))].map((text) => JSON.parse(text));
}

const signedBefore = {
  'x-service-webhook-signature': 'old',
  'x-service-webhook-signature-next': '',
  'webhook-signature': 'old',
};
const signedInOverlap = {
  'x-service-webhook-signature': 'old',
  'x-service-webhook-signature-next': 'new',
  'webhook-signature': 'old new',
};
const signedAfter = {
  'x-service-webhook-signature': 'new',
  'x-service-webhook-signature-next': '',
  'webhook-signature': 'new',
};

/** Compares the effects of a receiver with the deliveries that it acknowledged. */
async function expectOneEffectEach({ load, receiver, database }: Subject): Promise<void> {
  await eventually(() => expect(receiver.responses).toHaveLength(load.sent.length));
  const acknowledged = load.sent.filter(({ result }) => result.responseStatus === 200 && result.error === null);
  expect(load.sent.some(({ attempt }) => attempt === 2)).toBe(true);
  const effects = (await database.effects()).map(({ deliveryId }) => deliveryId);
  expect(effects.toSorted()).toEqual([...new Set(acknowledged.map(({ webhookId }) => webhookId))].toSorted());
}

test(
  'receivers that change their secrets at different times of a rotation under load reject no delivery',
  { timeout },
  async () => {
    const early = await start((databaseUrl) => startInstances(databaseUrl, [oldSecret]));
    const late = await start((databaseUrl) => startInstances(databaseUrl, [oldSecret]));
    const file = await start(startFileReceiver);
    const variable = await start(startVariableReceiver);
    const subjects: readonly Subject[] = [early, late, file, variable];
    const progress = async (count: number): Promise<void> => {
      await Promise.all(subjects.map(({ load }) => load.more(count)));
    };

    await progress(100);
    await early.receiver.deploy(0, [oldSecret, newSecret]);
    await progress(50);
    await early.receiver.deploy(1, [newSecret, oldSecret]);
    await progress(100);

    for (const { load } of subjects) load.sign(overlap);
    // All deliveries that are signed with the old secret only have a response.
    await progress(100);
    await late.receiver.deploy(0, [newSecret]);
    await progress(50);
    await file.receiver.replace(newSecret);
    await progress(50);
    await eventually(() => {
      expect(variable.receiver.inFlight()).toBeGreaterThan(1);
      variable.receiver.set(newSecret);
    });
    await progress(50);
    await late.receiver.deploy(1, [newSecret]);
    await progress(100);

    for (const { load } of subjects) load.sign(after);
    await progress(100);
    await early.receiver.deploy(0, [newSecret]);
    await progress(50);
    await early.receiver.deploy(1, [newSecret]);
    await progress(100);
    await Promise.all(subjects.map(({ load }) => load.stop()));

    for (const subject of subjects) {
      await expectOneEffectEach(subject);
      expect(resultsOf(subject)).toEqual([
        { phase: 'old', status: 200, ...signedBefore },
        { phase: 'overlap', status: 200, ...signedInOverlap },
        { phase: 'new', status: 200, ...signedAfter },
      ]);
      expect(subject.load.sent.filter(({ result }) => result.error !== null)).toEqual([]);
    }
  },
);

test('without an overlap, a receiver rejects deliveries until it has the new secret', { timeout }, async () => {
  const subject = await start(startVariableReceiver);
  const { load, receiver } = subject;
  await load.more(50);
  load.sign(after);
  await load.more(50);
  receiver.set(newSecret);
  await load.more(50);
  await load.stop();

  await expectOneEffectEach(subject);
  expect(resultsOf(subject)).toEqual([
    { phase: 'old', status: 200, ...signedBefore },
    { phase: 'new', status: 401, ...signedAfter },
    { phase: 'new', status: 200, ...signedAfter },
  ]);
});
