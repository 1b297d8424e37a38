import { randomUUID } from 'node:crypto';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { append, createAccount } from '../src/index.ts';
import { drivers } from './support/drivers.ts';
import { createShopDatabase, orderPaid, snapshotOf } from './support/shop.ts';

// A later release of the database adds parameters with defaults to the functions, and the application still has this release.

const database = await forFile(createShopDatabase());
const owner = await forFile(connect(database.databaseUrl));
for (const [signature, last] of [
  ['append_event(text, text, json, text)', 'record text DEFAULT NULL::text'],
  ['create_account(text, text, text, text)', 'organization text DEFAULT NULL::text'],
] as const) {
  const [{ source = '' } = {}] = (await owner.run(`select pg_get_functiondef($1::regprocedure) as source`, [
    `deedwire.${signature}`,
  ])) as { source?: string }[];
  await owner.run(`drop function deedwire.${signature}; ${source.replace(last, `${last}, later jsonb default '{}'`)}`);
}

test.each(drivers)('with %s, its calls are accepted', async (_, open) => {
  const driver = await forTest(open(database.databaseUrl));
  const [order, externalId] = [randomUUID(), randomUUID()];
  await driver.transaction(async (session) => {
    await createAccount(session, { interface: 'customer', externalId, name: 'Bo' });
    await append(session, orderPaid, externalId, snapshotOf(order));
  });
  const found = `select from deedwire.webhook_event where snapshot #>> '{order,id}' = $1 and record_id = deedwire.record_hash($1)`;
  expect(await owner.run(found, [order])).toHaveLength(1);
});

test('the calls of an earlier release, which lack the last parameters, are accepted', async () => {
  const text = JSON.stringify(snapshotOf(randomUUID()));
  expect(await owner.run(`select deedwire.append_event('order.paid', 'c-1', $1::json)`, [text])).toHaveLength(1);
  expect(
    await owner.run(`select deedwire.append_event(type => 'order.paid', account => 'c-1', snapshot => $1)`, [text]),
  ).toHaveLength(1);
});
