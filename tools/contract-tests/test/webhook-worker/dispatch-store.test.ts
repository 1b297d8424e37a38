// The rule does not know tests that are extended with fixtures.
/* oxlint-disable vitest/no-standalone-expect */
import { findWebhookSubscription, updateWebhookSubscription } from '@deedwire/actions';
import type { Harness } from '@deedwire/dev-environment/harness';
import type { RecordId } from '@deedwire/domain';
import { createStore, type Store } from '@deedwire/store';
import type { LaneLease } from '@deedwire/store/webhook-dispatch';
import { missing } from '@deedwire/testing';
import {
  createDispatchStore,
  type DispatchStore,
  type Settlement,
} from '@deedwire/webhook-worker/dispatch/dispatch-store';
import { fanOutAccount } from '@deedwire/webhook-worker/fan-out/fan-out-account';
import { describe, expect } from 'vitest';
import { test as base } from './fixtures.ts';

// The worker's own login, and no worker: each step by hand.
const test = base.extend<{ store: Store }>({
  store: async ({ harness }, use) => {
    const databaseUrl = await harness.database.urlFor('webhook_worker');
    const store = createStore({ databaseUrl, applicationName: 'test-worker' });
    await use(store);
    await store.close();
  },
});

let first: DispatchStore;
let second: DispatchStore;
let subscription: string;

/** A subscription with so many deliveries that are due. */
async function seed(harness: Harness, store: Store, url: string, events: number): Promise<void> {
  first = createDispatchStore(store, 'first', 15);
  second = createDispatchStore(store, 'second', 15);
  subscription = (await harness.subscribe(url, ['referral.created'])).id;
  await harness.refer(events);
  await fanOutAccount(store, 'service', harness.accounts.partner.accountId);
}

async function leaseOne(store: DispatchStore): Promise<LaneLease> {
  const [lane] = await store.lease(10);
  if (lane === undefined) throw new Error('No lane.');
  return lane;
}

const taken = (store: DispatchStore, { subscriptionId }: LaneLease) => store.take([{ subscriptionId, slots: 16 }], []);

const attempt = (deliveryId: RecordId<'WebhookDelivery'>, responseStatus: number) => ({
  deliveryId,
  number: 1,
  startedAt: new Date(),
  durationMs: 12,
  responseStatus,
  error: null,
});

const delivered = (lane: LaneLease, deliveryId: RecordId<'WebhookDelivery'>): Settlement => ({
  lane,
  deliveryId,
  attempt: attempt(deliveryId, 204),
  next: { kind: 'finished', status: 'DELIVERED' },
  goneUrl: null,
});

const gone = (lane: LaneLease, deliveryId: RecordId<'WebhookDelivery'>, goneUrl: string): Settlement => ({
  lane,
  deliveryId,
  attempt: attempt(deliveryId, 410),
  next: { kind: 'due', attempts: 1, delayMs: 5_000 },
  goneUrl,
});

const expireLeases = (harness: Harness) =>
  harness.sql(`update webhook_lane set leased_until = now() - interval '1 second'`);
const state = async (harness: Harness) => ({
  deliveries: await harness.sql('select id, status, settled_at from webhook_delivery order by id'),
  pending: await harness.sql('select * from webhook_pending_delivery order by delivery_id'),
  attempts: await harness.sql('select * from webhook_attempt order by delivery_id, number'),
  lanes: await harness.sql('select * from webhook_lane'),
});

describe('settling', () => {
  test('what a former owner writes changes nothing, and it is told so', async ({ harness, receiver, store }) => {
    await seed(harness, store, receiver.url, 3);
    const old = await leaseOne(first);
    const [one, two] = await taken(first, old);
    await expireLeases(harness);
    const current = await leaseOne(second);
    const before = await state(harness);
    const late = [delivered(old, one?.deliveryId ?? missing()), gone(old, two?.deliveryId ?? missing(), receiver.url)];
    expect(await first.settle(late, [old])).toEqual([one?.deliveryId, two?.deliveryId]);
    expect(await state(harness)).toEqual(before);
    expect(await first.renew([old])).toEqual([]);
    // Mixed with what is current, only that is written.
    expect(await second.settle([...late, delivered(current, one?.deliveryId ?? missing())], [])).toHaveLength(2);
    expect((await state(harness)).attempts).toHaveLength(1);
  });

  test('settled again, because the answer to the commit was lost, it is as settled once', async ({
    harness,
    receiver,
    store,
  }) => {
    await seed(harness, store, receiver.url, 2);
    const lane = await leaseOne(first);
    const rows = await taken(first, lane);
    const settlements = rows.map(({ deliveryId }) => delivered(lane, deliveryId));
    expect(await first.settle(settlements, [lane])).toEqual([]);
    expect(await first.settle(settlements, [lane])).toEqual([]);
    expect((await state(harness)).attempts).toHaveLength(2);
    expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED' }, { status: 'DELIVERED' }]);
    expect(await second.lease(10)).toEqual([]);
    expect(await second.nextDueInMs()).toBeNull();
  });

  test('a lane that is given back with something due is there for another at once', async ({
    harness,
    receiver,
    store,
  }) => {
    await seed(harness, store, receiver.url, 2);
    const lane = await leaseOne(first);
    const [one] = await taken(first, lane);
    await first.settle([delivered(lane, one?.deliveryId ?? missing())], [lane]);
    const next = await leaseOne(second);
    expect(next).toEqual({ subscriptionId: lane.subscriptionId, fencingToken: '2' });
    expect(await taken(second, next)).toHaveLength(1);
  });
});

describe('a receiver that is gone', () => {
  test('pauses its subscription: what is pending stays, and nothing is taken', async ({ harness, receiver, store }) => {
    const { url } = receiver;
    await seed(harness, store, url, 3);
    const lane = await leaseOne(first);
    const [one, two] = await taken(first, lane);
    await first.settle(
      [gone(lane, one?.deliveryId ?? missing(), url), gone(lane, two?.deliveryId ?? missing(), url)],
      [lane],
    );
    expect(await findWebhookSubscription(harness.partnerApi, harness.accounts.partner, subscription)).toMatchObject({
      pausedReason: 'GONE',
    });
    expect(await second.lease(10)).toEqual([]);
    expect(await taken(first, lane)).toEqual([]);
    expect((await state(harness)).pending).toHaveLength(3);
  });

  test('is not the one that the subscription has by now', async ({ harness, receiver, store }) => {
    await seed(harness, store, receiver.url, 1);
    const lane = await leaseOne(first);
    const [one] = await taken(first, lane);
    const callbackUrl = `${receiver.url}/new`;
    const { userErrors } = await updateWebhookSubscription(harness.partnerApi, harness.accounts.partner, {
      id: subscription,
      callbackUrl,
    });
    expect(userErrors).toEqual([]);
    await first.settle([gone(lane, one?.deliveryId ?? missing(), receiver.url)], [lane]);
    expect(await findWebhookSubscription(harness.partnerApi, harness.accounts.partner, subscription)).toMatchObject({
      status: 'ACTIVE',
      callbackUrl,
    });
  });
});
