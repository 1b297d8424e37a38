import { EventEmitter, once } from 'node:events';
import { connect } from '@deedwire/testing';
import { expect, test, vi } from 'vitest';
import { applySubscriptionChange } from '../../src/apply-subscription-change.ts';
import { ExchangeEraser } from '../../src/exchanges/exchange-eraser.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import { appendSubscriptionChange } from '../../src/outbox/outbox.ts';
import { BacklogRemover } from '../../src/subscriptions/backlog-remover.ts';
import { closeAfterTest, FanOutWorld } from '../fan-out/fan-out-world.ts';
import { seedAccount, seedEvents, type SeededAccount, seedSubscription } from '../support/seed.ts';

const backlog = 1_000_000;
const samples = 20;

const median = (durations: number[]): number => durations.toSorted((a, b) => a - b)[samples] ?? Number.NaN;

const setTimer = (callback: () => void, delayMs: number): (() => void) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};

test.each([false, true])(
  'deleting a subscription with 1,000,000 pending deliveries delays no event (old snapshot: %s)',
  async (hasSnapshot) => {
    const world = await FanOutWorld.create();
    const [account, stranger] = [await seedAccount(world.store), await seedAccount(world.store)];
    const subscribe = (to: SeededAccount) =>
      world.store.transaction((transaction) => seedSubscription(transaction, to));
    const deleted = await subscribe(account);
    const [other, strangers] = [await subscribe(account), await subscribe(stranger)];
    await world.rows(
      `insert into webhook_pending_delivery
         (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
          due_at, body_bytes)
       select $1, n, $2, 'partner', n, 'referral.created', '2026-11-01', now(), n, now(), 2
       from generate_series(1, $3::int) n`,
      [deleted, account.id, backlog],
    );
    await world.rows('vacuum analyze webhook_pending_delivery');

    const { workerStore, workerId } = world;
    let removedMs = 0;
    const backlogs = new BacklogRemover({
      store: workerStore,
      clock: { setTimer },
      workerId: () => workerId,
      eraserOf: (id) => new ExchangeEraser(workerStore, id),
      onFenced: () => {},
      onEvent: (event) => void (event.kind === 'backlog-removed' && (removedMs = performance.now())),
    });
    closeAfterTest(() => backlogs.stop());
    const dispatcher = { closeLane() {}, rereadTarget() {}, openLane() {} };
    const replays = { readAgain() {}, async stepsInProgress() {} };
    const offers = new EventEmitter();
    const fanOut = world.start({
      offer: (deliveries) => {
        for (const { subscriptionId } of deliveries) offers.emit(subscriptionId);
      },
      onSubscriptionChanged: (id) => applySubscriptionChange({ store: workerStore, dispatcher, backlogs, replays }, id),
    });
    await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), { timeout: 60_000 });

    /** How long events of the account take until they are offered to the subscription, in milliseconds. */
    const measure = async (to: SeededAccount, id: SubscriptionId): Promise<number[]> => {
      const durations: number[] = [];
      for (let sample = 0; sample < samples; sample += 1) {
        const offered = once(offers, id);
        await world.store.transaction((transaction) => seedEvents(transaction, to, 1));
        const startedAtMs = performance.now();
        fanOut.wake(null);
        await offered;
        durations.push(performance.now() - startedAtMs);
      }
      return durations;
    };
    const before = [...(await measure(account, other)), ...(await measure(stranger, strangers))];

    if (hasSnapshot) {
      const holder = await connect(world.databaseUrl);
      closeAfterTest(() => holder.close());
      await holder.run('begin isolation level repeatable read');
      await holder.run('select count(*) from account');
    }
    const startedAtMs = performance.now();
    await world.store.transaction(async (transaction) => {
      const text = `update webhook_subscription set deleted_at = now(), callback_url = '', secret_ciphertext = '' where id = $1`;
      await transaction.query({ name: 'delete-subscription', text }, [deleted]);
      const { id: accountId, interfaceName } = account;
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: deleted });
    });
    fanOut.wake(null);
    const during = [...(await measure(account, other)), ...(await measure(stranger, strangers))];
    const isBusy = removedMs === 0;
    await vi.waitFor(() => expect(removedMs).toBeGreaterThan(0), { timeout: 600_000 });
    process.stdout.write(
      `old snapshot ${hasSnapshot}: an event took ${Math.round(median(before))} ms before, ${Math.round(median(during))} ms ` +
        `during the deletion (longest ${Math.round(Math.max(...during))} ms), which took ` +
        `${Math.round(removedMs - startedAtMs)} ms\n`,
    );
    expect(isBusy).toBe(true);
    const [pending] = await world.rows('select from webhook_pending_delivery where subscription_id = $1', [deleted]);
    expect(pending).toBeUndefined();
    // An idle machine: less than twice as long.
    expect(median(during)).toBeLessThan(10 * median(before));
  },
);
