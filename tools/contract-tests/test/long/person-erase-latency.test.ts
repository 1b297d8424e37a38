import { idAt } from '@deedwire/core';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { compareRequestsBeside } from '../support/requests-beside.ts';

const t = await forFile(startTestSystem());
const { otherCustomer } = t.accounts;
const env = { DATABASE_URL: await t.database.urlFor('operator'), DATABASE_DIRECT_URL: t.database.databaseUrl };

const place = parse('mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } } }');
const days = 20;
const eventsPerDay = Number(process.env['EVENTS_PER_DAY'] ?? 20_000);

/** Fills the partitions of past days with events about other persons, each with a payload and a delivery. */
async function fill(): Promise<void> {
  const today = Math.floor(Date.now() / 86_400_000);
  for (let day = today - days; day < today; day += 1) {
    const [min, before] = [day, day + 1].map((at) => idAt(new Date(at * 86_400_000)));
    const suffix = new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
    for (const table of ['webhook_event', 'webhook_payload', 'webhook_delivery'])
      await t.sql(
        `create table if not exists ${table}_${suffix} partition of ${table} for values from (${min}) to (${before})`,
      );
    const ids = `select ${min}::bigint + n * 1000000::bigint as id, n from generate_series(1, ${eventsPerDay}) n`;
    await t.sql(
      `insert into webhook_event (id, account_id, interface, event_type, snapshot, record_id)
       select id, $1, 'customer', 'order.placed',
         json_build_object('order', json_build_object('id', 'gid://service/Order/' || n, 'buyerEmail', n || '@x.example')), n
       from (${ids}) i`,
      [otherCustomer.accountId],
    );
    await t.sql(
      `insert into webhook_payload (event_id, event_version, interface, body)
       select id, '2026-11-01', 'customer', decode(repeat('61', 400), 'hex') from (${ids}) i`,
    );
    await t.sql(
      `insert into webhook_delivery (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at,
         sequence, record_id)
       select id + 1, $1, 1, 'customer', id, 'order.placed', '2026-11-01', now(), n, n from (${ids}) i`,
      [otherCustomer.accountId],
    );
  }
  await t.sql('analyze');
}

test(
  'while a person is erased, the requests of other accounts take as long as before',
  { timeout: 1_800_000 },
  async () => {
    await fill();
    const { p99 } = await compareRequestsBeside({
      system: t,
      env,
      session: 'deedwire-operator',
      beforeMs: 10_000,
      async prepare(round) {
        const email = `ada${round}@buyer.example`;
        await t.otherCustomer.request(place, { input: { item: 'Tea', buyerEmail: email } });
        return ['person', 'erase', '--email', email, '--yes'];
      },
    });
    expect(p99.low).toBeLessThanOrEqual(1.2);
  },
);
