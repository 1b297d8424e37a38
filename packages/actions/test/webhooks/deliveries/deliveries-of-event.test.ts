import { type AccountId, idAt, toRecordId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import type { DeliveryId, EventId, SubscriptionId } from '@deedwire/webhooks/tables';
import { seedAccount } from '@deedwire/webhooks/test-support';
import { expect, test } from 'vitest';
import { selectDeliveriesOfEvent } from '../../../src/webhooks/deliveries/deliveries-of-event.ts';
import type { DeliveryFilter } from '../../../src/webhooks/deliveries/deliveries.ts';
import { openPastDays } from '../support/past-days.ts';

const nowMs = Date.now();
const idDaysAgo = (days: number): bigint => BigInt(idAt(new Date(nowMs - days * 86_400_000)));

const { superuser, store, api, insertSubscription } = await openPastDays();
const [own, foreign] = [(await seedAccount(store)).id, (await seedAccount(store)).id];
const subscribe = (account: AccountId, number: number) => insertSubscription(account, idDaysAgo(37) + BigInt(number));
const subscriptions = {
  first: await subscribe(own, 1),
  second: await subscribe(own, 2),
  deleted: await subscribe(own, 3),
  foreign: await subscribe(foreign, 4),
};
await superuser.run('update webhook_subscription_sequence set last_sequence = 1');
await superuser.run('update webhook_retention set expired_before = $1', [idDaysAgo(30)]);
await superuser.run('update webhook_subscription set deleted_at = now() where id = $1', [subscriptions.deleted]);

const record = String(idDaysAgo(37));

async function insertEvent(id: EventId, accountId: AccountId, type: string, recordId: string | null): Promise<void> {
  await superuser.run(
    `insert into webhook_event (id, account_id, interface, event_type, snapshot, record_id)
     values ($1, $2, 'customer', $3, '{}', $4)`,
    [id, accountId, type, recordId],
  );
}

/** Deliveries of an event, a millisecond apart, from `days` ago on. */
async function insertDeliveries(
  of: { eventId: string; type: string; recordId: string | null; accountId: AccountId; subscriptionId: SubscriptionId },
  days: number,
  count = 1,
): Promise<DeliveryId[]> {
  const rows = await superuser.run(
    `insert into webhook_delivery
       (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence, record_id)
     select $1::bigint + (number << 22), $2, $3, 'customer', $4, $5, '2026-11-01', now(), 1, $6
     from generate_series(0::bigint, $7 - 1) as number
     order by number desc
     returning id`,
    [idDaysAgo(days) + next(), of.accountId, of.subscriptionId, of.eventId, of.type, of.recordId, count],
  );
  return rows.map(({ id }) => toRecordId(String(id)));
}

let drawn = 0n;
/** Ids of one millisecond differ. */
const next = (): bigint => (drawn += 1n);

/** An event at each subscription of its account, the deleted one too. Returns what is listed, newest first. */
async function publish(days: number, recordId: string | null, accountId = own) {
  const eventId = toRecordId<'WebhookEvent'>(String(idDaysAgo(days) + next()));
  const type = recordId === null ? 'webhook.test' : 'order.placed';
  await insertEvent(eventId, accountId, type, recordId);
  const of = { eventId, type, recordId, accountId };
  const { first, second, deleted } = subscriptions;
  const targets = accountId === own ? [first, second] : [subscriptions.foreign];
  if (accountId === own) await insertDeliveries({ ...of, subscriptionId: deleted }, days);
  const listed: DeliveryId[] = [];
  for (const subscriptionId of targets) listed.unshift(...(await insertDeliveries({ ...of, subscriptionId }, days)));
  return { eventId, type, listed };
}

// Expired deliveries are listed for 7 days, and their events are dropped after one: nothing is kept of `dropped`.
const dropped = await publish(33, record);
await superuser.run('delete from webhook_event where id = $1', [dropped.eventId]);
const old = await publish(20, record);
// As it was before the release with migration 0037.
await superuser.run('update webhook_event set record_id = null where id = $1', [old.eventId]);
await superuser.run('update webhook_delivery set record_id = null where event_id = $1', [old.eventId]);
const about = await publish(10, record);
const others = await publish(9.9, record);
const withoutRecord = await publish(9.8, null);
const ofForeign = await publish(9.7, String(idDaysAgo(37) + 1n), foreign);
const foreignWithoutRecord = await publish(9.6, null, foreign);

const all = { accountId: own, subscriptionId: null, status: null } as const;
const firstPage = { afterId: null, limit: 21 };

async function read(eventId: string, filter: Partial<DeliveryFilter> = {}, eventType: string | null = null) {
  const statements: string[] = [];
  let searched = 0;
  const watched: Database = {
    query: (statement, values) => {
      statements.push(statement.name);
      return api.query(statement, values);
    },
  };
  const events = { eventId: toRecordId<'WebhookEvent'>(eventId), eventType };
  const onSearched = (deliveries: number) => (searched += deliveries);
  const of = { ...all, ...filter, accountId: own };
  const { rows, readTo } = await selectDeliveriesOfEvent(watched, of, events, firstPage, { onSearched });
  return { ids: rows.map(({ id }) => id), readTo, searched, statements };
}

test('lists the deliveries of an event by the index of its record', async () => {
  const { ids, readTo, searched, statements } = await read(about.eventId);
  expect({ ids, readTo, searched }).toEqual({ ids: about.listed, readTo: null, searched: 0 });
  expect(statements).toContain('select-deliveries-of-record');
  expect((await read(others.eventId)).ids).toEqual(others.listed);
});

test.each([
  ['about no record', withoutRecord, 2],
  ['from before the index', old, 8],
  ['of which nothing is kept', dropped, 10],
])('searches the deliveries since an event %s', async (_name, event, searched) => {
  expect(await read(event.eventId)).toMatchObject({ ids: event.listed, readTo: null, searched });
});

test('lists those of a subscription, of a status, of a period, and of the type of the event', async () => {
  const { second } = subscriptions;
  for (const { eventId, type, listed } of [about, old, dropped]) {
    const [ofSecond] = listed;
    expect((await read(eventId, { subscriptionId: second })).ids).toEqual([ofSecond]);
    expect((await read(eventId, { status: 'FAILED' })).ids).toEqual([]);
    expect((await read(eventId, {}, type)).ids).toEqual(listed);
    expect((await read(eventId, {}, 'other')).ids).toEqual([]);
    expect((await read(eventId, { since: new Date(nowMs - 86_400_000) })).ids).toEqual([]);
    expect((await read(eventId, { until: new Date(nowMs - 34 * 86_400_000) })).ids).toEqual([]);
  }
});

test('runs the same statement for a foreign event, with or without a record, as for one that does not exist', async () => {
  const missing = String(BigInt(about.eventId) + 5n);
  for (const eventId of [ofForeign.eventId, foreignWithoutRecord.eventId, missing])
    expect(await read(eventId)).toEqual({ ids: [], readTo: null, searched: 0, statements: ['select-event'] });
});

test('shows nothing of an event that no longer exists, and was of another account', async () => {
  const gone = await publish(32, null, foreign);
  await superuser.run('delete from webhook_event where id = $1', [gone.eventId]);
  expect(await read(gone.eventId)).toEqual(await read(String(BigInt(gone.eventId) + 1n)));
  expect((await read(gone.eventId)).ids).toEqual([]);
});

test('finds nothing for the first and the last id that there can be', async () => {
  for (const id of ['1', String(2n ** 63n - 1n)]) expect((await read(id)).ids).toEqual([]);
});

test('continues after 200 deliveries of the record, until the deliveries of the event', async () => {
  const busy = String(idDaysAgo(36));
  const { eventId, listed } = await publish(6, busy);
  const later = { eventId: '2', type: 'order.shipped', recordId: busy, accountId: own };
  await insertDeliveries({ ...later, subscriptionId: subscriptions.first }, 5, 450);
  const events = { eventId, eventType: null };
  const first = await selectDeliveriesOfEvent(api, all, events, firstPage);
  expect(first).toEqual({ rows: [], readTo: expect.any(String) });
  expect(await readAll(eventId)).toEqual({ ids: listed, pages: 3 });
});

test('continues after 5,000 deliveries since an event without a record, until its deliveries', async () => {
  const { eventId, listed } = await publish(4, null);
  const later = { eventId: '2', type: 'order.placed', recordId: record, accountId: own };
  await insertDeliveries({ ...later, subscriptionId: subscriptions.first }, 3, 6_000);
  const { ids, readTo, searched } = await read(eventId);
  expect({ ids, readTo, searched }).toEqual({ ids: [], readTo: expect.any(String), searched: 5_000 });
  expect(await readAll(eventId)).toEqual({ ids: listed, pages: 2 });
});

async function readAll(eventId: EventId) {
  const ids: DeliveryId[] = [];
  for (let [afterId, pages]: [DeliveryId | null, number] = [null, 1]; ; pages += 1) {
    const page = { ...firstPage, afterId };
    const { rows, readTo } = await selectDeliveriesOfEvent(api, all, { eventId, eventType: null }, page);
    ids.push(...rows.map(({ id }) => id));
    if (readTo === null) return { ids, pages };
    afterId = readTo;
  }
}
