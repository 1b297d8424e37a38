import { idAt } from '@deedwire/core';
import { createStore, onlyRow } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { createPastPartitions, createServiceDatabase } from '@deedwire/webhooks/test-support';
import { describe, expect, test } from 'vitest';
import {
  countReplayed,
  type ReplayIds,
  type ReplayRange,
  selectReplayIds,
} from '../../../src/webhooks/replay/replays.ts';
import { explainingDatabase } from '../support/explaining-database.ts';

const days = 30;
const dayMs = 86_400_000;

const idDaysAgo = (ago: number): SubscriptionId => idAt<'WebhookSubscription'>(new Date(Date.now() - ago * dayMs));

const rangeOf = (fromSequence: number | null, untilSequence: number | null): ReplayRange => ({
  onlyFailed: false,
  eventTypes: null,
  since: null,
  until: null,
  fromSequence,
  untilSequence,
});

/** `DELIVERIES=1000000` is a longer run. */
const count = Number(process.env['DELIVERIES'] ?? 10_000);

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
await createPastPartitions(superuser, days + 2, ['webhook_delivery']);
const subscriptionId = idDaysAgo(days + 1);
// Ids and sequences differ by up to 20 seconds, and in the middle of the history the clock is set back by an hour.
await superuser.run('set session_replication_role = replica');
await superuser.run(
  `insert into webhook_delivery
     (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
   select ((n::bigint * 7919 % 41 - 20 + case when n > $1::int / 2 then 0 else 3600 end) * 1000::bigint << 22)
       + $2::bigint + ($3::bigint - $2::bigint) / $1::int * n + (n & 4095),
     1, $4, 'customer', n, 'order.placed', '2026-11-01', now(), n
   from generate_series(1, $1::int) n`,
  [count, idDaysAgo(days), idDaysAgo(0.1), subscriptionId],
);
await superuser.run('set session_replication_role = default');
await superuser.run('analyze');

async function countWithin({ fromId, untilId }: ReplayIds, sequences: [number | null, number | null]) {
  const row = onlyRow(
    await superuser.run(
      `select count(*)::int as all,
         count(*) filter (where ($3::bigint is null or sequence >= $3) and ($4::bigint is null or sequence < $4))::int as wanted
       from webhook_delivery where subscription_id = $5 and id >= $1 and id < $2`,
      [fromId, untilId, ...sequences, subscriptionId],
    ),
  );
  return { all: Number(row['all']), wanted: Number(row['wanted']) };
}

const part = Math.floor(count / 100);
const middle = Math.floor(count / 2);
const perDay = Math.ceil(count / days);

describe.each<[string, number | null, number | null, wanted: number]>([
  ['at the beginning', 1, part, part - 1],
  ['from the beginning', null, part, part - 1],
  ['in the first half', 3 * part, 4 * part, part],
  ['around the time at which the clock was set back', middle - part, middle + part, 2 * part],
  ['with the first delivery after it', middle + 1, middle + 2, 1],
  ['with the last delivery before it', middle, middle + 1, 1],
  ['in the second half', 80 * part, 81 * part, part],
  ['to the end', count - part, null, part + 1],
  ['after the end', count + 1, null, 0],
  ['of all', 1, count + 1, count],
])('sequences %s', (_, from, until, wanted) => {
  test('are replayed from where they are', async () => {
    const ids = await selectReplayIds(store, subscriptionId, rangeOf(from, until), false);
    const found = await countWithin(ids, [from, until]);
    expect(found.wanted).toBe(wanted);
    // A day at both ends, and the hour.
    expect(found.all).toBeLessThanOrEqual(wanted + 2.2 * perDay);
    await measure(from, until, false);
  });

  test('are estimated without what lies beside them', async () => {
    const ids = await selectReplayIds(store, subscriptionId, rangeOf(from, until), true);
    const found = await countWithin(ids, [from, until]);
    // The estimate knows nothing of the hour.
    expect(found.wanted).toBeLessThanOrEqual(wanted);
    expect(found.wanted).toBeGreaterThanOrEqual(wanted - perDay / 20);
    expect(found.all).toBeLessThanOrEqual(wanted + perDay / 10);
    await measure(from, until, true);
  });
});

test('a dry run reads at most as many deliveries as it may', async () => {
  const range = { ...rangeOf(null, null), eventTypes: ['order.shipped'] };
  const ids = await selectReplayIds(store, subscriptionId, range, true);
  expect(await countReplayed(store, subscriptionId, range, ids, 1_000)).toEqual({ counts: [], searched: 1_000 });
});

async function measure(from: number | null, until: number | null, isEstimate: boolean) {
  const { database: explaining, costs } = explainingDatabase(superuser);
  await selectReplayIds(explaining, subscriptionId, rangeOf(from, until), isEstimate);
  const searches = costs.filter(({ statement }) => statement.startsWith('select-first'));
  // 17 halves for each end, some of which have no delivery in their first 10 days.
  expect(searches.length).toBeLessThanOrEqual(2 * 20);
  expect(Math.max(0, ...searches.map((each) => each.buffers))).toBeLessThanOrEqual(100);
  expect(Math.max(0, ...searches.map((each) => each.locks))).toBeLessThanOrEqual(64);
}
