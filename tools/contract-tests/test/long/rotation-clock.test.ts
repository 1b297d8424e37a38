import { setTimeout as sleep } from 'node:timers/promises';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { terminateBackends } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resetClock, setClockBack } from '../support/faults/database-clock.ts';
import {
  installSvix,
  type LibraryReceiver,
  standard as verifyStandard,
  startLibraryReceiver,
} from '../support/library-receiver.ts';
import { type KitReceiver, startKitReceiver } from '../support/receiver-kit/kit-receiver.ts';
import { createReceiverDatabase, type ReceiverDatabase } from '../support/receiver-kit/receiver-database.ts';
import { subscribe } from '../support/subscribe.ts';
import * as operations from '../support/webhook-operations.ts';

// Processes, and an overlap of 60 s of real time. The test in `full` moves the end of a rotation instead, and steps no clock.

const overlapMs = 60_000;
const timeout = 600_000;
/** Guards against hanging. */
const waitMs = 180_000;
const [oldSecret, newSecret] = [generateWebhookSecret(), generateWebhookSecret()];
const verifySvix = await installSvix();

let t: TestSystem;
let standard: LibraryReceiver;
let svix: LibraryReceiver;
let kit: KitReceiver;
let kitDatabase: ReceiverDatabase;
let kitSecrets = [oldSecret];

beforeAll(async () => {
  t = await startTestSystem();
  await t.system.add('webhook-worker');
  const secrets = [oldSecret, newSecret];
  standard = await startLibraryReceiver(verifyStandard, secrets);
  svix = await startLibraryReceiver(verifySvix, secrets);
  kitDatabase = await createReceiverDatabase();
  kit = await startKitReceiver({ databaseUrl: kitDatabase.databaseUrl, secrets: () => kitSecrets });
}, timeout);

afterAll(async () => {
  await t.close();
  await Promise.all([standard.close(), svix.close(), kit.close()]);
  await kitDatabase.close();
});

/** Places an order each 50 ms until it is stopped. Ended sessions fail some of the requests. */
function startLoad(): { stop: () => Promise<void> } {
  let isStopped = false;
  async function createInTurn(): Promise<void> {
    while (!isStopped) {
      await t.customer.request(operations.PlaceDocument, { input: { item: 'Tea' } }).catch(() => null);
      await sleep(50);
    }
  }
  const running = createInTurn();
  return {
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

/** Resolves once each receiver has got another request whose signatures are of these secrets, in this order. */
async function untilSignedWith(...secrets: string[]): Promise<void> {
  const receivers = [standard, svix].map((receiver) => ({ receiver, from: receiver.received.length }));
  const kitFrom = kit.responses.length;
  await eventually(() => {
    for (const { receiver, from } of receivers) {
      expect(receiver.received.slice(from).map(({ signedWith }) => signedWith)).toContainEqual(secrets);
    }
    const counts = kit.responses.slice(kitFrom).map(({ headers }) => signatureCount(headers['webhook-signature']));
    expect(counts).toContain(secrets.length);
  }, waitMs);
}

const signatureCount = (header: string | string[] | undefined): number => header?.toString().split(' ').length ?? 0;

async function restartWorker(): Promise<void> {
  const worker = t.system.apps['webhook-worker'];
  worker.kill('SIGTERM');
  expect(await worker.ended).toEqual({ exitCode: 0, signal: null });
  await t.system.add('webhook-worker');
}

test(
  'an overlap of 60 s in which the clock of the database steps, notifications are lost and a worker restarts rejects no delivery',
  { timeout },
  async () => {
    const eventTypes = [{ type: 'order.placed' }];
    const ids: string[] = [];
    for (const { url } of [standard, svix, kit]) {
      ids.push((await subscribe(t.customer, { callbackUrl: url, eventTypes, webhookSecret: oldSecret })).id);
    }
    const load = startLoad();
    try {
      await untilSignedWith(oldSecret);
      for (const id of ids) {
        const input = { id, webhookSecret: newSecret, overlapSeconds: overlapMs / 1_000 };
        const { rotateWebhookSecret } = await t.customer.request(operations.RotateSecretDocument, { input });
        expect(rotateWebhookSecret.userErrors).toEqual([]);
      }
      const startedAt = performance.now();
      await untilSignedWith(oldSecret, newSecret);

      // Ends all sessions, including those that listen: the notifications that they would have got are lost.
      await setClockBack(t.database.databaseUrl, '60 s');
      await untilSignedWith(oldSecret, newSecret);
      await restartWorker();
      await untilSignedWith(oldSecret, newSecret);
      for (const receiver of [standard, svix]) receiver.hold(newSecret);
      kitSecrets = [newSecret];
      // A precondition, not a result: receivers that change later than the overlap lasts would reject.
      expect(performance.now() - startedAt).toBeLessThan(overlapMs);
      await resetClock(t.database.databaseUrl);
      await untilSignedWith(oldSecret, newSecret);

      await sleep(Math.max(0, startedAt + overlapMs - performance.now()));
      // The worker reads a target again within 5 s, whatever its notifications were.
      await terminateBackends(t.database.databaseUrl);
      await untilSignedWith(newSecret);
      await sleep(10_000);
      const counts = [standard.received.length, svix.received.length];
      await untilSignedWith(newSecret);
      for (const [index, { received }] of [standard, svix].entries()) {
        expect(received.slice(counts[index]).map(({ signedWith }) => signedWith)).not.toContainEqual([
          oldSecret,
          newSecret,
        ]);
      }
    } finally {
      await load.stop();
    }
    await eventually(async () => {
      expect(await t.sql('select count(*)::int as pending from webhook_pending_delivery')).toEqual([{ pending: 0 }]);
    }, waitMs);

    for (const { received } of [standard, svix]) {
      expect(received.filter(({ isAccepted }) => !isAccepted)).toEqual([]);
    }
    const deliveries = kit.responses.filter(({ headers }) => headers['x-service-webhook-event'] !== undefined);
    expect(deliveries.filter(({ status }) => status !== 200)).toEqual([]);
    process.stdout.write(
      `${standard.received.length}, ${svix.received.length} and ${deliveries.length} requests, 0 rejected\n`,
    );
  },
);
