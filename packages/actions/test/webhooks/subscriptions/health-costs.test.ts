import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { createServiceDatabase, fillHistory } from '@deedwire/webhooks/test-support';
import { expect, test } from 'vitest';
import { selectHealth } from '../../../src/webhooks/subscriptions/health.ts';
import { selectHourStatistics, statisticsHoursMax } from '../../../src/webhooks/subscriptions/hour-statistics.ts';
import { selectSubscriptions } from '../../../src/webhooks/subscriptions/subscriptions.ts';
import { explainingDatabase } from '../support/explaining-database.ts';

/** `DELIVERIES=5000000` is a longer run, which prints times too. */
const count = Number(process.env['DELIVERIES'] ?? 20_000);

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const history = await fillHistory(superuser, { finished: count, pending: 100 });
const { accountId, subscriptionIds } = history.busy;
const page = { afterId: null, limit: 11 };

// Others keep the tables and indexes from being small: 200 subscriptions for a week, by two processes at each hour.
await superuser.run(
  `insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
   select 1000000 + n, ${history.quiet.accountId}, 'customer', 'https://a.test/', '', 0 from generate_series(1, 200) n`,
);
await superuser.run(
  `insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed,
     last_delivered_at)
   select s.id, hour, counter, 'customer', case when hour < now() - interval '3 days' then 5 else 0 end, 1, 0,
     case when hour < now() - interval '3 days' then hour end
   from generate_series(date_trunc('hour', now()) - interval '167 hours', now(), interval '1 hour') hour, webhook_subscription s,
     generate_series(1, 2) counter
   order by hour, counter, s.id`,
);
await superuser.run(
  `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes)
   select id, 1, 3, 0 from webhook_subscription`,
);

/**
 * Inserts deliveries that wait, of 10 subscriptions in turn, as fan-out does. The first 16 of each are written again, as their
 * failures are recorded: the others wait for the breaker of the receiver.
 */
async function fillPending(perSubscription: number): Promise<void> {
  await superuser.run('truncate webhook_pending_delivery');
  await superuser.run(
    `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version,
       occurred_at, sequence, due_at, body_bytes)
     select subscription_id, n * 100, ${accountId}, 'customer', n, 'order.placed', '2026-11-01', now(), n, now(), 9
     from generate_series(1, ${perSubscription}) n, unnest('{${subscriptionIds.slice(-10).join(',')}}'::bigint[]) subscription_id
     order by n`,
  );
  await superuser.run(
    `with waiting as (delete from webhook_pending_delivery where delivery_id <= 1600 returning *)
     insert into webhook_pending_delivery select * from waiting order by subscription_id, delivery_id`,
  );
  await superuser.run('vacuum webhook_pending_delivery');
}

/** Reads the first 10 subscriptions with their health, as the API does. */
async function readList(): Promise<{ buffers: number; ms: number; costs: unknown }> {
  const api = await connect(await database.urlFor('customer_api'));
  const { database: explaining, costs } = explainingDatabase(api);
  const listed = (await selectSubscriptions(explaining, { accountId, status: null }, page)).slice(0, 10);
  const ids = listed.map(({ id }) => id);
  expect(await selectHealth(explaining, accountId, ids)).toHaveLength(10);
  const startMs = performance.now();
  await selectHealth(
    { query: async (statement, values) => (await api.run(statement.text, values)) as never[] },
    accountId,
    ids,
  );
  const ms = performance.now() - startMs;
  await api.close();
  // PostgreSQL chooses one kind of plan for each statement: the sum of the costlier ones.
  const most = new Map<string, number>();
  for (const { statement, buffers } of costs) {
    const name = statement.split(' ')[0] ?? '';
    most.set(name, Math.max(buffers, most.get(name) ?? 0));
  }
  return { buffers: [...most.values()].reduce((sum, buffers) => sum + buffers, 0), ms, costs };
}

/** Reads a week of 10 subscriptions, and returns what reads more than its rows: each hour has two, which are in different pages. */
async function readWeek(): Promise<unknown[]> {
  const api = await connect(await database.urlFor('customer_api'));
  const { database: explaining, costs } = explainingDatabase(api);
  await selectHourStatistics(explaining, accountId, subscriptionIds.slice(0, 10), statisticsHoursMax);
  await api.close();
  return costs.filter(({ buffers }) => buffers > 10 * (2 * statisticsHoursMax + 20));
}

test('a week of 10 subscriptions reads its rows, and not those of others, before tables are analyzed', async () => {
  expect(await readWeek()).toEqual([]);
});

test.each([
  { waiting: 0, buffersMax: 200 },
  { waiting: 20, buffersMax: 200 },
  { waiting: 1_000, buffersMax: 4_000 },
  { waiting: 3_000, buffersMax: 4_000 },
])(
  'a list of 10 subscriptions with $waiting waiting deliveries each reads at most $buffersMax buffers',
  async ({ waiting, buffersMax }) => {
    await fillPending(waiting);
    for (const isAnalyzed of [false, true]) {
      // The first time all tables: afterwards, only this one changes.
      if (isAnalyzed) await superuser.run(waiting === 0 ? 'vacuum (analyze)' : 'analyze webhook_pending_delivery');
      const { buffers, ms, costs } = await readList();
      if (process.env['DELIVERIES'] !== undefined)
        process.stdout.write(`${JSON.stringify({ waiting, isAnalyzed, buffers, ms })}\n`);
      expect({ buffers, costs, isWithin: buffers <= buffersMax }).toEqual({ buffers, costs, isWithin: true });
    }
  },
);

test('a week of 10 subscriptions reads its rows, and not those of others, once tables are analyzed', async () => {
  expect(await readWeek()).toEqual([]);
});
