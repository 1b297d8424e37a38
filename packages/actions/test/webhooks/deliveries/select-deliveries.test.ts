import { idAt, toRecordId, type AccountId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { missing } from '@deedwire/testing';
import type { DeliveryId, EventId, SubscriptionId } from '@deedwire/webhooks/tables';
import { seedAccount } from '@deedwire/webhooks/test-support';
import { beforeAll, describe, expect, test } from 'vitest';
import { selectAttempts } from '../../../src/webhooks/deliveries/attempts.ts';
import { selectDeliveriesOfEach } from '../../../src/webhooks/deliveries/deliveries-of-each.ts';
import {
  openList,
  selectDeliveries,
  selectDeliveriesOfAllAccounts,
  selectDelivery,
} from '../../../src/webhooks/deliveries/deliveries.ts';
import { selectShownPayloads } from '../../../src/webhooks/deliveries/exchanges.ts';
import type { DeliveryStatus } from '../../../src/webhooks/deliveries/pages.ts';
import { selectSearchedDeliveries } from '../../../src/webhooks/deliveries/searched-deliveries.ts';
import { openPastDays } from '../support/past-days.ts';

const dayMs = 86_400_000;
const nowMs = Date.now();
const idDaysAgo = (days: number): bigint => BigInt(idAt(new Date(nowMs - days * dayMs)));
const expiredBefore = idDaysAgo(30);

// A hundred deliveries at each of these times, with gaps of several days between them.
const daysAgo = [0, 0.5, 6, 19, 29.9, 36];

const typed = (eventType: string) => ({ eventType, eventId: null });

interface Delivery {
  id: DeliveryId;
  accountId: AccountId;
  subscriptionId: SubscriptionId;
  status: DeliveryStatus;
}

const { superuser, store, api, operator, insertSubscription } = await openPastDays();
const subscribe = (owner: AccountId, number: number) => insertSubscription(owner, idDaysAgo(37) + BigInt(number));
await superuser.run('update webhook_retention set expired_before = $1', [expiredBefore]);
const [accountId, otherAccountId] = [(await seedAccount(store)).id, (await seedAccount(store)).id];
const subscriptions = {
  busy: await subscribe(accountId, 1),
  rare: await subscribe(accountId, 2),
  paused: await subscribe(accountId, 3),
  unused: await subscribe(accountId, 4),
  deleted: await subscribe(accountId, 5),
  foreign: await subscribe(otherAccountId, 6),
};
const all: Delivery[] = [];
for (let number = 0; number < 600; number += 1) {
  const name = number % 50 === 0 ? 'rare' : number % 7 === 0 ? 'paused' : number % 11 === 0 ? 'deleted' : 'busy';
  const owner = number % 13 === 0 ? otherAccountId : accountId;
  const subscriptionId = owner === otherAccountId ? subscriptions.foreign : subscriptions[name];
  const days = (number % 100) / 400 + (daysAgo[Math.floor(number / 100)] ?? 0);
  const id = toRecordId<'WebhookDelivery'>(String(idDaysAgo(days) + BigInt(number % 4096)));
  const ended = BigInt(id) < expiredBefore ? 'EXPIRED' : 'FAILED';
  const status = number % 5 === 0 ? ended : number % 9 === 0 ? 'PENDING' : 'DELIVERED';
  all.push({ id, accountId: owner, subscriptionId, status });
}
for (const delivery of all) await insertDelivery(delivery);
const set = (assignments: string, id: SubscriptionId) =>
  superuser.run(`update webhook_subscription set ${assignments} where id = $1`, [id]);
await set(`paused_reason = 'OWNER', paused_at = now()`, subscriptions.paused);
await set('deleted_at = now()', subscriptions.deleted);
/** Newest first, without those of the deleted subscription. */
const expected = all
  .filter(({ subscriptionId }) => subscriptionId !== subscriptions.deleted)
  .toSorted((a, b) => (BigInt(a.id) > BigInt(b.id) ? -1 : 1));

async function insertDelivery({ id, accountId: owner, subscriptionId, status }: Delivery): Promise<void> {
  const columns = `account_id, interface, event_id, event_type, event_version, occurred_at, sequence`;
  const values = `$1, 'customer', $3, 'order.placed', '2026-11-01', '2026-11-02', s.last_sequence`;
  const state =
    status === 'PENDING'
      ? `insert into webhook_pending_delivery (delivery_id, subscription_id, ${columns}, due_at, body_bytes)
         select $3, $2, ${values}, '2026-11-03', 9 from s`
      : status === 'DELIVERED'
        ? `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
           select $3, number, $2, 'customer', now(), 5, case number when 1 then 500 else 204 end from generate_series(1, 2) number`
        : `insert into webhook_failed_delivery (subscription_id, delivery_id, interface) values ($2, $3, 'customer')`;
  await superuser.run(
    `with s as (
       update webhook_subscription_sequence set last_sequence = last_sequence + 1 where subscription_id = $2
       returning last_sequence
     ),
     delivery as (insert into webhook_delivery (id, subscription_id, ${columns}) select $3, $2, ${values} from s)
     ${state}`,
    [owner, subscriptionId, id],
  );
}

/** Reads all pages of a list. */
async function readAll(
  readPage: (page: {
    afterId: DeliveryId | null;
    limit: number;
  }) => Promise<{ rows: { id: DeliveryId; status: DeliveryStatus }[] }>,
  limit: number,
): Promise<{ id: DeliveryId; status: DeliveryStatus }[]> {
  const found: { id: DeliveryId; status: DeliveryStatus }[] = [];
  for (;;) {
    const { rows } = await readPage({ afterId: found.at(-1)?.id ?? null, limit });
    found.push(...rows);
    if (rows.length < limit) return found;
  }
}

const idAndStatus = ({ id, status }: { id: DeliveryId; status: DeliveryStatus }) => ({ id, status });

describe.each([null, 'PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const)('with the status %s', (status) => {
  const isListed = (delivery: Delivery): boolean => status === null || delivery.status === status;

  test.each([1000, 20])('lists the deliveries of an account, newest first, in pages of %d', async (limit) => {
    const found = await readAll(
      (page) => selectDeliveries(api, { accountId, subscriptionId: null, status }, page),
      limit,
    );
    const listed = expected.filter((delivery) => delivery.accountId === accountId && isListed(delivery));
    expect(listed.length).toBeGreaterThan(20);
    expect(found.map(idAndStatus)).toEqual(listed.map(idAndStatus));
  });

  test.each(['busy', 'rare', 'paused', 'unused', 'deleted', 'foreign'] as const)(
    'lists the deliveries of one subscription: %s',
    async (name) => {
      const subscriptionId = subscriptions[name];
      const ofSubscription = expected.filter(
        (delivery) => delivery.subscriptionId === subscriptionId && isListed(delivery),
      );
      const own = await readAll((page) => selectDeliveries(api, { accountId, subscriptionId, status }, page), 20);
      expect(own.map(idAndStatus)).toEqual(name === 'foreign' ? [] : ofSubscription.map(idAndStatus));
      const any = await readAll(
        (page) => selectDeliveries(operator, { accountId: null, subscriptionId, status }, page),
        20,
      );
      expect(any.map(idAndStatus)).toEqual(ofSubscription.map(idAndStatus));
    },
  );

  test.each([1000, 7])('lists the deliveries of each subscription in pages of %d, as one by one', async (limit) => {
    const ids = Object.values(subscriptions);
    const after = expected[90]?.id ?? missing();
    // Two pages of each subscription in one call.
    const pages = [null, after].flatMap((afterId) =>
      ids.map((subscriptionId) => ({ subscriptionId, status, afterId, limit })),
    );
    const found = await selectDeliveriesOfEach(api, accountId, pages);
    const one = async ({ subscriptionId, ...page }: (typeof pages)[number]) =>
      (await selectDeliveries(api, { accountId, subscriptionId, status }, page)).rows;
    expect(found).toEqual(await Promise.all(pages.map(one)));
    expect(found.flat().length).toBeGreaterThan(0);
  });

  test.each([1000, 20])('lists the deliveries of all accounts in pages of %d', async (limit) => {
    const found = await readAll((page) => selectDeliveriesOfAllAccounts(operator, { status }, page), limit);
    expect(found.map(idAndStatus)).toEqual(expected.filter(isListed).map(idAndStatus));
  });
});

test('reads pages of several subscriptions together, each with its status and size', async () => {
  const { busy, rare } = subscriptions;
  const pages = [
    { subscriptionId: busy, status: null, afterId: null, limit: 3 },
    { subscriptionId: rare, status: 'FAILED', afterId: null, limit: 3 },
    { subscriptionId: busy, status: 'PENDING', afterId: null, limit: 50 },
  ] as const;
  const names: string[] = [];
  const counting: Database = {
    query: (statement, values) => {
      names.push(statement.name);
      return api.query(statement, values);
    },
  };
  const found = await selectDeliveriesOfEach(counting, accountId, pages);
  for (const [index, { subscriptionId, status, afterId, limit }] of pages.entries()) {
    const { rows } = await selectDeliveries(api, { accountId, subscriptionId, status }, { afterId, limit });
    expect(found[index]).toEqual(rows);
    expect(rows.length).toBeGreaterThan(0);
  }
  names.length = 0;
  const latest = Object.values(subscriptions).map((subscriptionId) => ({ ...pages[0], subscriptionId, limit: 1 }));
  expect((await selectDeliveriesOfEach(counting, accountId, latest)).filter((rows) => rows.length > 0)).toHaveLength(3);
  // Six subscriptions share them. The history is read in at most four parts.
  const numberOf = (name: string) => names.filter((one) => one === name).length;
  expect(numberOf('select-listed-subscriptions-of-account')).toBe(1);
  expect(numberOf('select-delivery-ids-every')).toBeLessThanOrEqual(4);
});

test('reports each part of the history that a page reads after the first one', async () => {
  const { busy, rare, unused } = subscriptions;
  let further = 0;
  const count = (): void => void (further += 1);
  const countOf = async (read: () => Promise<unknown>): Promise<number> => {
    further = 0;
    await read();
    return further;
  };
  const parts = async (subscriptionId: SubscriptionId | null): Promise<number> =>
    [...(await openList(api, { accountId, subscriptionId, status: null }, null)).ranges].length;
  const list = (limit: number, subscriptionId: SubscriptionId | null = null) =>
    countOf(() => selectDeliveries(api, { accountId, subscriptionId, status: null }, { afterId: null, limit }, count));

  expect(await list(5)).toBe(0);
  expect(await parts(null)).toBeGreaterThan(2);
  expect(await list(1000)).toBe((await parts(null)) - 1);
  expect(await list(1000, rare)).toBe((await parts(rare)) - 1);
  const ofType = { accountId, subscriptionId: null, status: null };
  const search = () =>
    selectSearchedDeliveries(api, ofType, typed('other'), { afterId: null, limit: 5 }, { onFurtherPart: count });
  expect(await countOf(search)).toBe((await parts(null)) - 1);
  // One without deliveries reads no part.
  expect(await list(5, unused)).toBe(0);

  const each = (limit: number, ...of: SubscriptionId[]) =>
    countOf(() =>
      selectDeliveriesOfEach(
        api,
        accountId,
        of.map((subscriptionId) => ({ subscriptionId, status: null, afterId: null, limit })),
        count,
      ),
    );
  expect(await each(1, busy)).toBe(0);
  expect(await each(1000, rare)).toBe((await parts(rare)) - 1);
});

test('finds a delivery of the account only', async () => {
  const delivery = expected.find(({ subscriptionId }) => subscriptionId === subscriptions.busy) ?? missing();
  expect(await selectDelivery(api, accountId, delivery.id)).toMatchObject({
    id: delivery.id,
    subscriptionId: subscriptions.busy,
    status: delivery.status,
    eventId: delivery.id,
    eventType: 'order.placed',
    eventVersion: '2026-11-01',
    occurredAt: new Date('2026-11-02T00:00:00Z'),
  });
  expect(await selectDelivery(api, otherAccountId, delivery.id)).toBeNull();
  expect(await selectDelivery(operator, null, delivery.id)).toMatchObject({ id: delivery.id });
  expect(await selectDelivery(api, accountId, toRecordId('9223372036854775807'))).toBeNull();
});

async function dueAt(name: 'busy' | 'paused', status: DeliveryStatus): Promise<Date | null> {
  const filter = { accountId, subscriptionId: subscriptions[name], status };
  const { rows } = await selectDeliveries(api, filter, { afterId: null, limit: 1 });
  return (rows[0] ?? missing()).dueAt;
}

test('plans the next attempt of a pending delivery unless its subscription is paused', async () => {
  expect(await dueAt('busy', 'PENDING')).toEqual(new Date('2026-11-03T00:00:00Z'));
  expect(await dueAt('paused', 'PENDING')).toBeNull();
  expect(await dueAt('busy', 'DELIVERED')).toBeNull();
});

test('accepts the largest id as a cursor', async () => {
  const filter = { accountId, subscriptionId: null, status: null };
  const afterId = toRecordId<'WebhookDelivery'>('9223372036854775807');
  const fromLargest = await selectDeliveries(api, filter, { afterId, limit: 5 });
  expect(fromLargest).toEqual(await selectDeliveries(api, filter, { afterId: null, limit: 5 }));
});

test('reads the latest attempts of each delivery, newest first', async () => {
  const delivered = expected.filter(({ status }) => status === 'DELIVERED').map(({ id }) => id);
  const pages = delivered.map((deliveryId) => ({ deliveryId, before: null, limit: 20 }));
  const attempts = await selectAttempts(operator, pages);
  expect(attempts.map((rows) => rows.map(({ deliveryId, number }) => [deliveryId, number]))).toEqual(
    delivered.map((id) => [2, 1].map((number) => [id, number])),
  );
  expect(attempts[0]?.[0]).toMatchObject({ number: 2, responseStatus: 204, error: null });
  expect(await selectAttempts(operator, [])).toEqual([]);
});

test('reads several pages of the attempts of a delivery together, each with its limit', async () => {
  const ids = expected.filter(({ status }) => status === 'DELIVERED').map(({ id }) => id);
  const [first = missing(), second = missing()] = ids;
  const pages = [
    { deliveryId: second, before: null, limit: 1 },
    { deliveryId: first, before: 2, limit: 20 },
    { deliveryId: first, before: null, limit: 1 },
    { deliveryId: first, before: 1, limit: 20 },
    { deliveryId: second, before: 3, limit: 20 },
  ];
  const attempts = await selectAttempts(api, pages);
  expect(attempts.map((rows) => rows.map(({ deliveryId, number }) => [deliveryId, number]))).toEqual([
    [[second, 2]],
    [[first, 1]],
    [[first, 2]],
    [],
    [
      [second, 2],
      [second, 1],
    ],
  ]);
});

const thirdOf = (attempts: readonly { number: number; isThirdTimeout: boolean }[]): number[] =>
  attempts.filter(({ isThirdTimeout }) => isThirdTimeout).map(({ number }) => number);

test('knows a third timeout in a row on a connection that stayed open, whatever the page begins with', async () => {
  const { id, subscriptionId } = expected.find(({ status }) => status === 'DELIVERED') ?? missing();
  const details =
    'NO_RESPONSE BODY_NOT_ENDED NO_RESPONSE NO_RESPONSE NOT_ACCEPTED NO_RESPONSE NO_RESPONSE CLOSED NO_RESPONSE NO_RESPONSE BODY_NOT_ENDED';
  for (const [index, detail] of details.split(' ').entries())
    await superuser.run(
      `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error, detail)
       values ($1, $2, $3, 'customer', now(), 5000, $4, $5)`,
      [id, index + 3, subscriptionId, detail === 'CLOSED' ? 'CONNECTION_FAILED' : 'TIMEOUT', detail],
    );
  const [rows = []] = await selectAttempts(api, [{ deliveryId: id, before: null, limit: 20 }]);
  expect(rows).toHaveLength(13);
  expect(thirdOf(rows)).toEqual([13, 6, 5]);
  const single = await selectAttempts(
    api,
    rows.map(({ number }) => ({ deliveryId: id, before: number + 1, limit: 1 })),
  );
  expect(single.map((page) => page.map(({ number }) => number))).toEqual(rows.map(({ number }) => [number]));
  expect(thirdOf(single.flat())).toEqual([13, 6, 5]);
  await superuser.run('delete from webhook_attempt where delivery_id = $1 and number > 2', [id]);
});

const eventIdAt = (days: number): EventId => toRecordId<'WebhookEvent'>(String(idDaysAgo(days)));
const insertPayload = (eventId: EventId, version: string, interfaceName: string, body: Buffer) =>
  superuser.run('insert into webhook_payload (event_id, event_version, interface, body) values ($1, $2, $3, $4)', [
    eventId,
    version,
    interfaceName,
    body,
  ]);

describe('payloads', () => {
  test('are the stored text, of the event and the version, in the order of the keys', async () => {
    const texts = [0, 0.5, 6, 19, 29.9].map((days) => `\uFEFF{"days":${days},"text":"é 🏡 \\u0000 \u2028"}`);
    const ids = [0, 0.5, 6, 19, 29.9].map(eventIdAt);
    for (const [index, id] of ids.entries())
      await insertPayload(id, '2026-11-01', 'customer', Buffer.from(texts[index] ?? ''));
    await insertPayload(ids[2] ?? missing(), '2027-02-01', 'customer', Buffer.from('other version'));
    const keys = ids.map((eventId) => ({ eventId, eventVersion: '2026-11-01' }));
    const wanted = [
      ...keys.toReversed(),
      { eventId: ids[2] ?? missing(), eventVersion: '2027-02-01' },
      { eventId: ids[2] ?? missing(), eventVersion: '2028-01-01' },
      { eventId: eventIdAt(3), eventVersion: '2026-11-01' },
      ...keys.slice(0, 1),
    ];
    expect(await selectShownPayloads(api, wanted)).toEqual([
      ...texts.toReversed(),
      'other version',
      null,
      null,
      texts[0],
    ]);
    expect(await selectShownPayloads(api, [])).toEqual([]);
  });

  test('of the other interface are not read', async () => {
    const eventId = eventIdAt(1);
    await insertPayload(eventId, '2026-11-01', 'supplier', Buffer.from('{}'));
    expect(await selectShownPayloads(api, [{ eventId, eventVersion: '2026-11-01' }])).toEqual([null]);
  });
});

function ownDeliveries(): Delivery[] {
  return expected.filter((delivery) => delivery.accountId === accountId);
}

function filterOf(status: DeliveryStatus | null) {
  return { accountId, subscriptionId: null, status };
}

describe('filters', () => {
  test.each([null, 'PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const)(
    'by time select the deliveries with the status %s from since to before until',
    async (status) => {
      for (const [newest, oldest] of [
        [6, 19],
        [0.1, 0.6],
        [6.05, 6.1],
        [2, 3],
      ] as const) {
        const since = new Date(nowMs - oldest * dayMs);
        const until = new Date(nowMs - newest * dayMs);
        const wanted = ownDeliveries()
          .filter((delivery) => status === null || delivery.status === status)
          .filter(({ id }) => BigInt(id) >= BigInt(idAt(since)) && BigInt(id) < BigInt(idAt(until)));
        const page = { afterId: null, limit: 1000 };
        const { rows } = await selectDeliveries(api, { ...filterOf(status), since, until }, page);
        expect(rows.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
      }
      const [since, until] = [new Date('2031-01-01'), new Date('1999-01-01')];
      for (const bound of [{ since }, { until }]) {
        const found = await selectDeliveries(api, { ...filterOf(status), ...bound }, { afterId: null, limit: 5 });
        expect(found).toEqual({ rows: [], readTo: null });
      }
    },
  );

  test.each([null, 'PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const)(
    'by type list the deliveries with the status %s, page after page',
    async (status) => {
      const wanted = ownDeliveries().filter((delivery) => status === null || delivery.status === status);
      const found: DeliveryId[] = [];
      for (let afterId: DeliveryId | null = null; found.length < wanted.length;) {
        const { rows, readTo } = await selectSearchedDeliveries(api, filterOf(status), typed('order.placed'), {
          afterId,
          limit: 17,
        });
        expect(readTo).toBeNull();
        expect(rows.length).toBe(Math.min(17, wanted.length - found.length));
        found.push(...rows.map(({ id }) => id));
        afterId = rows.at(-1)?.id ?? missing();
      }
      expect(found).toEqual(wanted.map(({ id }) => id));
      const page = { afterId: null, limit: 5 };
      expect(await selectSearchedDeliveries(api, filterOf(status), typed('order.closed'), page)).toEqual({
        rows: [],
        readTo: null,
      });
    },
  );

  describe('with more than 5,000 deliveries of other types', () => {
    let owner: AccountId;
    const startId = BigInt(idAt(new Date(nowMs - dayMs / 4)));
    const count = 12_000;

    const at = (n: bigint): DeliveryId => toRecordId<'WebhookDelivery'>(String(startId + n * 4_194_304n));

    beforeAll(async () => {
      owner = (await seedAccount(store)).id;
      const ids = [await subscribe(owner, 7), await subscribe(owner, 8)];
      await superuser.run(
        'update webhook_subscription_sequence set last_sequence = $1 where subscription_id = any ($2)',
        [count, ids],
      );
      await superuser.run(
        `with delivery as (
           insert into webhook_delivery
             (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
           select $1::bigint + n::bigint * 4194304, $2, ($3::bigint[])[1 + n % 2], 'customer', n,
             case when n in (1, 500, 9000) then 'rare' else 'frequent' end, '2026-11-01', now(), n
           from generate_series(1, $4::int) n
           returning id, subscription_id
         )
         insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
         select subscription_id, id, 'customer' from delivery`,
        [startId, owner, ids, count],
      );
    });

    test.each([null, 'FAILED'] as const)('and the status %s, reads 5,000 for each page', async (status) => {
      const filter = { accountId: owner, subscriptionId: null, status };
      const first = await selectSearchedDeliveries(api, filter, typed('rare'), { afterId: null, limit: 3 });
      expect(first.rows.map(({ id }) => id)).toEqual([at(9000n)]);
      expect(first.readTo).toBe(at(7001n));
      const second = await selectSearchedDeliveries(api, filter, typed('rare'), { afterId: first.readTo, limit: 3 });
      expect(second).toEqual({ rows: [], readTo: at(2001n) });
      const third = await selectSearchedDeliveries(api, filter, typed('rare'), { afterId: second.readTo, limit: 3 });
      expect(third.rows.map(({ id }) => id)).toEqual([at(500n), at(1n)]);
      expect(third.readTo).toBeNull();
    });

    test('a page that is full before that continues after its last delivery', async () => {
      const filter = { accountId: owner, subscriptionId: null, status: null };
      const { rows, readTo } = await selectSearchedDeliveries(api, filter, typed('frequent'), {
        afterId: null,
        limit: 21,
      });
      expect([rows.length, readTo]).toEqual([21, null]);
    });
  });
});
