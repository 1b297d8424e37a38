import { idAt, toRecordId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { missing } from '@deedwire/testing';
import type { DeliveryId, SubscriptionId } from '@deedwire/webhooks/tables';
import { seedAccount, seedSubscription } from '@deedwire/webhooks/test-support';
import { describe, expect, test } from 'vitest';
import { type RecordFilter, selectDeliveriesOfRecord } from '../../../src/webhooks/deliveries/deliveries-of-record.ts';
import type { DeliveryStatus, FoundPage } from '../../../src/webhooks/deliveries/pages.ts';
import { openPastDays } from '../support/past-days.ts';

const nowMs = Date.now();
const timeDaysAgo = (days: number): Date => new Date(nowMs - days * 86_400_000);
const idDaysAgo = (days: number): bigint => BigInt(idAt(timeDaysAgo(days)));

const { superuser, store, api, operator } = await openPastDays();

const [own, other] = [await seedAccount(store), await seedAccount(store)];
const subscribe = (account: typeof own) => store.transaction((transaction) => seedSubscription(transaction, account));
const subscriptions = {
  first: await subscribe(own),
  second: await subscribe(own),
  deleted: await subscribe(own),
  foreign: await subscribe(other),
};
await superuser.run('update webhook_subscription_sequence set last_sequence = 1');
await superuser.run('update webhook_retention set expired_before = $1', [idDaysAgo(30)]);
await superuser.run('update webhook_subscription set deleted_at = now() where id = $1', [subscriptions.deleted]);

/** Created 34 days ago. */
const record = toRecordId<'Order'>(String(idDaysAgo(34)));
const otherRecord = toRecordId<'Order'>(String(idDaysAgo(34) + 1n));

interface Stored {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  eventType: string;
  status: DeliveryStatus;
}

// At each of these times 7 deliveries to each subscription, two of which are about the record.
const stored: Stored[] = [];
for (const [time, days] of [0.01, 0.5, 3, 16, 29.5, 33.9].entries()) {
  for (const [place, subscriptionId] of Object.values(subscriptions).entries()) {
    for (let number = 0; number < 7; number += 1) {
      const id = toRecordId<'WebhookDelivery'>(String(idDaysAgo(days) + BigInt(time * 1000 + place * 10 + number)));
      const eventType = number % 2 === 0 ? 'order.placed' : 'order.shipped';
      const isFailed = (time + place + number) % 3 === 0;
      const status = isFailed ? (days > 30 ? 'EXPIRED' : 'FAILED') : number === 1 ? 'PENDING' : 'DELIVERED';
      // Of the others, one each is about another record, about none, and about a record of another type with the same id.
      const recordId = number < 2 ? record : number === 2 ? otherRecord : number === 3 ? null : record;
      const type = number === 4 ? 'line_item.added' : eventType;
      const isListed = recordId === record && number !== 4 && subscriptionId !== subscriptions.deleted;
      await insert({ id, subscriptionId, eventType: type, status, recordId });
      if (isListed) stored.push({ id, subscriptionId, eventType, status });
    }
  }
}
stored.sort((a, b) => (BigInt(a.id) > BigInt(b.id) ? -1 : 1));

async function insert({ id, subscriptionId, eventType, status, recordId }: Stored & { recordId: string | null }) {
  const accountId = subscriptionId === subscriptions.foreign ? other.id : own.id;
  await superuser.run(
    `insert into webhook_delivery
       (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence, record_id)
     values ($1, $2, $3, 'customer', $1, $4, '2026-11-01', now(), 1, $5)`,
    [id, accountId, subscriptionId, eventType, recordId],
  );
  if (status === 'FAILED' || status === 'EXPIRED')
    await superuser.run(`insert into webhook_failed_delivery values ($1, $2, 'customer')`, [subscriptionId, id]);
  if (status === 'PENDING')
    await superuser.run(
      `insert into webhook_pending_delivery
         (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, due_at,
          body_bytes)
       values ($1, $2, $3, 'customer', $2, $4, '2026-11-01', now(), 1, now(), 9)`,
      [subscriptionId, id, accountId, eventType],
    );
}

const events = { recordId: record, isDrawn: true, eventTypes: ['order.placed', 'order.shipped'], eventId: null };

async function readAll(
  reader: typeof api,
  filter: RecordFilter,
  limit: number,
  of: typeof events = events,
): Promise<Pick<Stored, 'id' | 'status'>[]> {
  const found: Pick<Stored, 'id' | 'status'>[] = [];
  for (let afterId: DeliveryId | null = null; ;) {
    const { rows, readTo }: FoundPage = await selectDeliveriesOfRecord(reader, filter, of, { afterId, limit });
    found.push(...rows.map(({ id, status }) => ({ id, status })));
    afterId = readTo ?? (rows.length < limit ? null : (rows.at(-1)?.id ?? null));
    if (afterId === null) return found;
  }
}

const listed = (isListed: (delivery: Stored) => boolean) =>
  stored.filter((delivery) => isListed(delivery)).map(({ id, status }) => ({ id, status }));

const all = { accountId: own.id, subscriptionId: null, status: null } as const;
const isConverted = ({ eventType }: Stored): boolean => eventType === 'order.shipped';
const inPeriod = ({ id }: Stored): boolean => BigInt(id) >= idDaysAgo(20) && BigInt(id) < idDaysAgo(2);
const isOwn = ({ subscriptionId }: Stored): boolean => subscriptionId !== subscriptions.foreign;

describe.each([null, 'PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const)('with the status %s', (status) => {
  const hasStatus = (delivery: Stored): boolean => status === null || delivery.status === status;

  test.each([100, 2])('lists the deliveries of a record, newest first, in pages of %d', async (limit) => {
    const found = await readAll(api, { ...all, status }, limit);
    expect(found).toEqual(listed((delivery) => isOwn(delivery) && hasStatus(delivery)));
    expect(found.length).toBeGreaterThan(1);
  });

  test('lists those to a subscription, of a type, and of a period', async () => {
    const { second: subscriptionId, foreign } = subscriptions;
    const ofSecond = (delivery: Stored): boolean => delivery.subscriptionId === subscriptionId && hasStatus(delivery);
    expect(await readAll(api, { ...all, subscriptionId, status }, 3)).toEqual(listed(ofSecond));
    expect(await readAll(api, { ...all, subscriptionId: foreign, status }, 3)).toEqual([]);
    const converted = { ...events, eventTypes: ['order.shipped'] };
    expect(await readAll(api, { ...all, subscriptionId, status }, 3, converted)).toEqual(
      listed((delivery) => ofSecond(delivery) && isConverted(delivery)),
    );
    const [since, until] = [timeDaysAgo(20), timeDaysAgo(2)];
    expect(await readAll(api, { ...all, status, since, until }, 3)).toEqual(
      listed((delivery) => isOwn(delivery) && hasStatus(delivery) && inPeriod(delivery)),
    );
  });

  test('lists those of all accounts to an operator, and of one subscription of any', async () => {
    const any = { accountId: null, subscriptionId: null, status };
    expect(await readAll(operator, any, 10)).toEqual(listed(hasStatus));
    const { foreign: subscriptionId } = subscriptions;
    expect(await readAll(operator, { ...any, subscriptionId }, 10)).toEqual(
      listed((delivery) => delivery.subscriptionId === subscriptionId && hasStatus(delivery)),
    );
  });
});

test('lists nothing of a record that does not exist, or has a later time in its id', async () => {
  for (const id of ['1', String(BigInt(record) - 1n), String(idDaysAgo(-400)), String(2n ** 63n - 1n)]) {
    expect(await readAll(api, all, 10, { ...events, recordId: toRecordId(id) })).toEqual([]);
  }
});

test('lists all of a record whose id is a hash, which says no time', async () => {
  // As large as an id of the year 2095, so that a bound would leave out all deliveries.
  const hash = toRecordId<'Order'>(String(2n ** 63n - 1n));
  const [first] = Object.values(subscriptions);
  for (const number of [0n, 1n, 2n])
    await insert({
      id: toRecordId(String(BigInt(idAt(new Date())) + number)),
      subscriptionId: first ?? missing(),
      eventType: 'order.placed',
      status: 'DELIVERED',
      recordId: hash,
    });
  const about = { ...events, recordId: hash };
  expect(await readAll(api, all, 2, { ...about, isDrawn: false })).toHaveLength(3);
  expect(await readAll(api, all, 2, about)).toEqual([]);
});

test('lists nothing to an account that has had no delivery', async () => {
  const { id: accountId } = await seedAccount(store);
  expect(await readAll(api, { ...all, accountId }, 10)).toEqual([]);
});

test('runs the same statements for a foreign record, however many deliveries it has, as for one that does not exist', async () => {
  const stranger = await seedAccount(store);
  await store.transaction((transaction) => seedSubscription(transaction, stranger));
  await superuser.run('update webhook_subscription_sequence set last_sequence = 1');
  const foreign = toRecordId<'Order'>(String(idDaysAgo(34) + 2n));
  await insertMany(foreign, 300);
  const run = async (recordId: typeof foreign, accountId: typeof own.id): Promise<string[]> => {
    const names: string[] = [];
    const watched: Database = {
      query: (statement, values) => {
        names.push(statement.name);
        return api.query(statement, values);
      },
    };
    const page = { afterId: null, limit: 21 };
    const found = await selectDeliveriesOfRecord(watched, { ...all, accountId }, { ...events, recordId }, page);
    expect(found.rows).toHaveLength(accountId === own.id ? 21 : 0);
    return names;
  };
  const missingRecord = toRecordId<'Order'>(String(idDaysAgo(34) + 3n));
  expect(await run(foreign, stranger.id)).toEqual(await run(missingRecord, stranger.id));
  expect(await run(foreign, own.id)).toContain('select-deliveries-by-id');
});

test('a page reads a bounded number of deliveries of a record, and the next one continues', async () => {
  const busy = toRecordId<'Order'>(String(idDaysAgo(34) + 4n));
  await insertMany(busy, 450);
  const about = { ...events, recordId: busy };
  const filter = { ...all, subscriptionId: subscriptions.second };
  const page = await selectDeliveriesOfRecord(api, filter, about, { afterId: null, limit: 21 });
  expect(page).toEqual({ rows: [], readTo: expect.any(String) });
  expect(await readAll(api, filter, 21, about)).toEqual([]);
  expect(await readAll(api, all, 21, about)).toHaveLength(450);
});

/** Deliveries to the first subscription within the last days. */
async function insertMany(recordId: string, count: number): Promise<void> {
  await superuser.run(
    `insert into webhook_delivery
       (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence, record_id)
     select id, $1, $2, 'customer', id, 'order.placed', '2026-11-01', now(), 1, $3
     from (select $4::bigint + number * 1000 as id from generate_series(1, $5::int) as number) ids`,
    [own.id, subscriptions.first, recordId, idDaysAgo(4) + (BigInt(recordId) % 1000n), count],
  );
}

test('reports each statement that reads a part of the history after the first', async () => {
  let further = 0;
  const read = async (limit: number, status: DeliveryStatus | null) => {
    further = 0;
    const page = { afterId: null, limit };
    const { rows } = await selectDeliveriesOfRecord(api, { ...all, status }, events, page, () => (further += 1));
    return rows;
  };
  // The newest 14 days have more than two.
  expect(await read(2, null)).toHaveLength(2);
  expect(further).toBe(0);
  // All 34 days are searched.
  await read(100, null);
  expect(further).toBeGreaterThan(1);
  // A delivery of any day can be erased, so the days before those that have expired are searched too.
  expect(await read(1, 'EXPIRED')).toHaveLength(1);
  expect(further).toBe(2);
});

test('reads a page from the index of records alone', async () => {
  const plans: string[] = [];
  const explaining = {
    async query<Row>(statement: Parameters<typeof api.query>[0], values: readonly unknown[]): Promise<Row[]> {
      if (!/^select-(?:deliveries|accounts)-of-record$/.test(statement.name))
        return api.query(statement, values) as Promise<Row[]>;
      const explain = { ...statement, name: 'explained', text: `explain ${statement.text}` };
      plans.push(JSON.stringify(await api.query(explain, values)));
      return api.query(statement, values) as Promise<Row[]>;
    },
  };
  await superuser.run('vacuum (analyze) webhook_delivery');
  const found = await selectDeliveriesOfRecord(explaining, all, events, { afterId: null, limit: 21 });
  expect(found.rows).toHaveLength(21);
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    expect(plan).toMatch(/Index (?:Only )?Scan Backward using webhook_delivery_\w*record/);
    expect(plan).not.toMatch(/Seq Scan|Bitmap|Incremental Sort|_pkey|by_subscription|subscription_id_id_idx/);
    // Of what was found of each account.
    expect(plan.match(/->  Sort /g) ?? []).toHaveLength(1);
  }
});

test('every partition has the index, including one that is created later', async () => {
  await superuser.run('call webhook_create_partitions(20)');
  const [partitions = missing()] = await superuser.run(
    `select count(*)::int as all, count(i.inhrelid)::int as indexed, bool_and(x.indisvalid) as valid
     from pg_inherits p
     left join pg_index x on x.indrelid = p.inhrelid and x.indexrelid in (
       select inhrelid from pg_inherits where inhparent = 'webhook_delivery_by_record'::regclass
     )
     left join pg_inherits i on i.inhrelid = x.indexrelid
     where p.inhparent = 'webhook_delivery'::regclass`,
  );
  // One more if a day has begun since the migrations.
  expect(partitions['all']).toBeGreaterThanOrEqual(59);
  expect(partitions).toEqual({ all: partitions['all'], indexed: partitions['all'], valid: true });
  const [parent = missing()] = await superuser.run(
    `select indisvalid as valid from pg_index where indexrelid = 'webhook_delivery_by_record'::regclass`,
  );
  expect(parent).toEqual({ valid: true });
});
