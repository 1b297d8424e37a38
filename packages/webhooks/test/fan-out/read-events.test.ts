import { toRecordId } from '@deedwire/core';
import { expect } from 'vitest';
import { readEvents } from '../../src/fan-out/sql/events.ts';
import { seedAccount } from '../support/seed.ts';
import { test } from './fan-out-world.ts';

test('the bound of the bytes follows the order of the queue, not that of the ids', async ({ world }) => {
  await world.addEvents(await seedAccount(world.store), 6);
  const rows = await world.rows<{ id: string }>('select id from webhook_event order by id desc');
  const queued = rows.map(({ id }) => toRecordId<'WebhookEvent'>(id));
  // The snapshot {"number":1} has 12 bytes.
  const { events, leftOut } = await readEvents(world.workerStore, queued, 30);
  expect(queued.filter((id) => events.get(id)?.id === id)).toEqual(queued.slice(0, 3));
  expect([...leftOut].toSorted()).toEqual(queued.slice(3).toSorted());
});

test('events are found by their ids', async ({ world }) => {
  const { id, interfaceName } = await seedAccount(world.store);
  const rows = await world.rows<{ id: string }>(
    `insert into webhook_event (account_id, interface, event_type, snapshot)
     select $1, $2, 'order.placed', '{}' from generate_series(1, 2000) returning id`,
    [id, interfaceName],
  );
  const read = rows.filter((_, index) => index % 10 === 0).map((row) => toRecordId<'WebhookEvent'>(row.id));
  const { rowsMax, removedMax } = await world.explain((database) => readEvents(database, read, 10_000));
  expect(rowsMax).toBe(read.length);
  expect(removedMax).toBe(0);
});
