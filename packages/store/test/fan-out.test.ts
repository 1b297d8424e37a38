import type { AccountId } from '@deedwire/domain';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, missing, type Connection } from '@deedwire/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createStore, type Store } from '../src/index.ts';
import {
  countOutboxAlarms,
  markEventFailed,
  pauseRetiredSubscriptions,
  selectAccountsWithQueuedEvents,
  selectQueuedEvents,
  selectSubscriptionsPinning,
  tryLockFanOut,
} from '../src/webhook-fan-out.ts';
import { insertOutboxEvent } from '../src/webhook-outbox.ts';
import { createMigratedDatabase } from './support/database.ts';
import { sampleEvent, fanOut, known, seedAccount, seedEvents, seedSubscription, type Account } from './support/seed.ts';

let database: TestDatabase;
let store: Store;
let superuser: Connection;
let account: Account;

beforeAll(async () => {
  database = await createMigratedDatabase();
  store = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  superuser = await connect(database.databaseUrl);
});

beforeEach(async () => {
  await superuser.run('truncate organization restart identity cascade');
  account = await seedAccount(store, 'partner');
});

afterAll(async () => {
  await Promise.all([store.close(), superuser.close()]);
  await database.drop();
});

const queued = () => selectQueuedEvents(store, known, account.id, 100);
const accounts = (after: AccountId | null = null, limit = 50) =>
  selectAccountsWithQueuedEvents(store, known, after, limit);

test('assigns sequences without gaps when several transactions fan out', async () => {
  const ids = [await seedSubscription(store, account), await seedSubscription(store, account)];
  await store.transaction((transaction) => seedEvents(transaction, account, 60));
  const worker = async (): Promise<void> => {
    while ((await queued()).length > 0) {
      await store.transaction(async (transaction) => {
        if (await tryLockFanOut(transaction, account.id)) await fanOut(transaction, account, 7);
      });
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  const rows = await superuser.run(
    `select subscription_id, count(*)::int, min(sequence), max(sequence), count(distinct event_id)::int as events
     from webhook_delivery group by subscription_id order by subscription_id`,
  );
  expect(rows).toEqual(ids.map((id) => ({ subscription_id: id, count: 60, min: '1', max: '60', events: 60 })));
  expect(await superuser.run('select distinct last_sequence from webhook_lane')).toEqual([{ last_sequence: '60' }]);
});

test('locks the fan-out of an account for one transaction', async () => {
  const other = await seedAccount(store, 'partner');
  await store.transaction(async (first) => {
    expect(await tryLockFanOut(first, account.id)).toBe(true);
    await store.transaction(async (second) => {
      expect(await tryLockFanOut(second, account.id)).toBe(false);
      expect(await tryLockFanOut(second, other.id)).toBe(true);
    });
  });
  await store.transaction(async (third) => expect(await tryLockFanOut(third, account.id)).toBe(true));
});

test('selects each account with queued events once, ordered by id', async () => {
  const others = [await seedAccount(store, 'lender'), await seedAccount(store, 'partner')];
  const all = [account, ...others];
  for (const each of all) await store.transaction((transaction) => seedEvents(transaction, each, 3));
  await seedAccount(store, 'partner');
  const ids = all.map(({ id }) => id);
  expect(await accounts()).toEqual(ids);
  expect(await accounts(null, 2)).toEqual(ids.slice(0, 2));
  expect(await accounts(ids[1])).toEqual(ids.slice(2));
  expect(await accounts(ids[2])).toEqual([]);
  await store.transaction((transaction) => fanOut(transaction, account));
  expect(await accounts()).toEqual(ids.slice(1));
});

test('keeps and counts an event of an unknown type, and does not delay later events', async () => {
  const snapshot = { accountId: account.id, interfaceName: account.interfaceName, snapshot: {}, requestId: null };
  await store.transaction((transaction) => insertOutboxEvent(transaction, { ...snapshot, type: 'referral.vanished' }));
  expect(await accounts()).toEqual([]);
  expect(await countOutboxAlarms(store, known)).toEqual({ unknown: 1, failed: 0 });
  await store.transaction((transaction) => seedEvents(transaction, account, 1));
  expect(await accounts()).toEqual([account.id]);
  expect(await queued()).toMatchObject([{ eventType: 'referral.created' }]);
  expect(
    await selectQueuedEvents(store, { types: ['referral.vanished'], versions: ['2026-11-01'] }, account.id, 100),
  ).toMatchObject([{ eventType: 'referral.vanished' }]);
});

test('keeps an event queued while a subscription pins an unknown version', async () => {
  const id = await seedSubscription(store, account);
  await seedSubscription(store, account);
  await superuser.run(
    `update webhook_subscription_event_type set event_version = '2099-01-01' where subscription_id = $1`,
    [id],
  );
  await store.transaction((transaction) => seedEvents(transaction, account, 1));
  expect(await queued()).toEqual([]);
  expect(await countOutboxAlarms(store, known)).toEqual({ unknown: 1, failed: 0 });
  await superuser.run('update webhook_subscription set deleted_at = now() where id = $1', [id]);
  expect(await queued()).toHaveLength(1);
  expect(await countOutboxAlarms(store, known)).toEqual({ unknown: 0, failed: 0 });
});

test('a paused subscription on a retired version does not delay events after the retirement', async () => {
  const gone = await seedSubscription(store, account);
  const ownersPause = await seedSubscription(store, await seedAccount(store, 'partner'));
  const other = await seedSubscription(store, account);
  const retired = { type: sampleEvent.type, version: '2020-01-01' };
  await superuser.run(
    `update webhook_subscription_event_type set event_version = '2020-01-01' where subscription_id = any ($1)`,
    [[gone, ownersPause]],
  );
  await superuser.run(
    `update webhook_subscription set paused_at = '2026-11-01', paused_reason = case id when $1 then 'GONE' else 'OWNER' end
     where id = any ($2)`,
    [gone, [gone, ownersPause]],
  );
  await store.transaction((transaction) => seedEvents(transaction, account, 1));
  expect(await queued()).toEqual([]);

  const found = await selectSubscriptionsPinning(store, [retired]);
  expect(found).toEqual([gone]);
  await pauseRetiredSubscriptions(store, found);
  expect(await queued()).toMatchObject([{ subscriptions: [{ id: other }] }]);
  expect(
    await superuser.run(
      'select id, paused_reason, paused_at from webhook_subscription where paused_at is not null order by id',
    ),
  ).toEqual([
    { id: gone, paused_reason: 'VERSION_RETIRED', paused_at: new Date('2026-11-01T00:00:00Z') },
    { id: ownersPause, paused_reason: 'OWNER', paused_at: expect.any(Date) },
  ]);
  expect(await selectSubscriptionsPinning(store, [retired])).toEqual([]);
});

test('does not select a failed event again, and counts it', async () => {
  await store.transaction((transaction) => seedEvents(transaction, account, 2));
  const [event] = await queued();
  await markEventFailed(store, event?.id ?? missing(), 'why');
  expect(await queued()).toHaveLength(1);
  expect(await countOutboxAlarms(store, known)).toEqual({ unknown: 0, failed: 1 });
});
