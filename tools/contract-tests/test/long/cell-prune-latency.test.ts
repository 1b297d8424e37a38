import { idAt } from '@deedwire/core';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createClientAccounts } from '../support/client-accounts.ts';
import { freeze, leave } from '../support/homes.ts';
import { compareRequestsBeside } from '../support/requests-beside.ts';

const t = await forFile(startTestSystem());
const env = { DATABASE_URL: await t.database.urlFor('operator'), DATABASE_DIRECT_URL: t.database.databaseUrl };

const sharedDays = 10;
const eventsPerDay = Number(process.env['EVENTS_PER_DAY'] ?? 1_000);

/** Fills the partitions of a past day with events of each subscription, each with a payload, a delivery and an attempt. */
async function fillDay(daysAgo: number, subscriptionIds: readonly unknown[], events: number): Promise<void> {
  const day = Math.floor(Date.now() / 86_400_000) - daysAgo;
  const [min, before] = [day, day + 1].map((at) => idAt(new Date(at * 86_400_000)));
  const suffix = new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  for (const table of ['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'])
    await t.sql(
      `create table if not exists ${table}_${suffix} partition of ${table} for values from (${min}) to (${before})`,
    );
  // Accounts take turns, as they do in a history that grew.
  const rows = `
    select ${min}::bigint + row_number() over (order by n, s.id) * 100000 as id, s.id as subscription_id, s.account_id, n
    from generate_series(1, ${events}) n, webhook_subscription s
    where s.id = any ('{${subscriptionIds.join()}}'::bigint[])`;
  for (const statement of [
    `insert into webhook_event_${suffix} (id, account_id, interface, event_type, snapshot)
     select id, account_id, 'customer', 'order.placed', json_build_object('order', repeat('x', 200)) from rows`,
    `insert into webhook_payload_${suffix} (event_id, event_version, interface, body)
     select id, '2026-11-01', 'customer', decode(repeat('61', 400), 'hex') from rows`,
    `insert into webhook_delivery_${suffix}
       (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select id, account_id, subscription_id, 'customer', id, 'order.placed', '2026-11-01', now(), n from rows`,
    `insert into webhook_attempt_${suffix}
       (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
     select id, 1, subscription_id, 'customer', now(), 1, 204 from rows`,
  ])
    await t.sql(`with rows as (${rows}) ${statement}`);
}

test(
  'while rows of other cells are deleted, the requests of own accounts take as long as before',
  {
    timeout: 1_800_000,
  },
  async () => {
    const accounts = await createClientAccounts('customer', t, 11);
    const ids = accounts.map(({ accountId }) => accountId.split('/').at(-1) ?? '');
    const subscriptions = await t.sql(
      `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
     select id, 'customer', 'https://a.test/', '', 0 from unnest($1::bigint[]) with ordinality as a (id, at) order by at
     returning id`,
      [ids],
    );
    const subscriptionIds = subscriptions.map(({ id }) => id);
    for (let day = 1; day <= sharedDays; day += 1) await fillDay(1 + day, subscriptionIds, eventsPerDay);
    // In each round, an account leaves whose events have a separate day, besides its share of the others. The last account stays.
    for (const [index, id] of subscriptionIds.slice(0, -1).entries())
      await fillDay(2 + sharedDays + index, [id], eventsPerDay);
    await t.sql('vacuum analyze');
    const { p99 } = await compareRequestsBeside({
      system: t,
      env,
      session: 'deedwire-split',
      beforeMs: 8_000,
      async prepare(round) {
        await freeze(t, ids.slice(round, round + 1));
        await leave(t, ids.slice(round, round + 1));
        return ['cell', 'prune', '--yes'];
      },
    });
    const left = `select from webhook_delivery where account_id <> $1 limit 1`;
    expect(await t.sql(left, [ids.at(-1)])).toEqual([]);
    expect(p99.low).toBeLessThanOrEqual(1.2);
  },
);
