import { randomUUID } from 'node:crypto';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { append, fromPg } from '../src/index.ts';
import { createShopDatabase, orderPaid, snapshotOf } from './support/shop.ts';

const database = await forFile(createShopDatabase());
const owner = await forFile(connect(database.databaseUrl));

/** As the worker renders them, from what is stored. */
const payloadsOf = async (order: string): Promise<unknown[]> => {
  const events = await owner.run(`select snapshot from deedwire.webhook_event where snapshot #>> '{order,id}' = $1`, [
    order,
  ]);
  return events.map(({ snapshot }) => orderPaid.renderers['2026-11-01']?.(snapshot as never));
};

const appendInSql = (snapshot: object) =>
  owner.run(`select deedwire.append_event('order.paid', 'c-1', $1::json)`, [JSON.stringify(snapshot)]);

test('a member with a default is stored by `append`, and SQL must have it', async () => {
  const client = await forTest(new Client({ connectionString: database.databaseUrl }));
  await client.connect();
  const { note, ...order } = snapshotOf(randomUUID()).order;
  await client.query('begin');
  await append(fromPg(client), orderPaid, 'c-1', { order } as never);
  await client.query('commit');
  expect(await payloadsOf(order.id)).toEqual([{ orderId: order.id, note: '' }]);

  const other = randomUUID();
  await expect(appendInSql({ order: { ...order, id: other } })).rejects.toThrow('order.note');
  expect(await payloadsOf(other)).toEqual([]);
  await appendInSql({ order: { ...order, id: other, note } });
  expect(await payloadsOf(other)).toEqual([{ orderId: other, note: '' }]);
});
