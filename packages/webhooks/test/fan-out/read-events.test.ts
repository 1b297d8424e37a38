import { toRecordId } from '@deedwire/domain';
import { expect } from 'vitest';
import { readEvents } from '../../src/fan-out/sql/events.ts';
import type { EventId } from '../../src/kernel/ids.ts';
import { seedAccount } from '../support/seed.ts';
import { type FanOutWorld, test } from './fan-out-world.ts';

async function seedIds(world: FanOutWorld, count: number): Promise<EventId[]> {
  const account = await seedAccount(world.store);
  await world.addEvents(account, count);
  const rows = await world.rows<{ id: string }>('select id from webhook_event order by id');
  return rows.map(({ id }) => toRecordId(id));
}

test('the bound of the bytes follows the order of the queue, not that of the ids', async ({ world }) => {
  const queued = (await seedIds(world, 6)).toReversed();
  // The snapshot {"number":1} has 12 bytes.
  const { events, leftOut } = await readEvents(world.workerStore, queued, 30);
  expect(queued.filter((id) => events.get(id)?.id === id)).toEqual(queued.slice(0, 3));
  expect([...leftOut].toSorted()).toEqual(queued.slice(3).toSorted());
});

test('events are found by their ids', async ({ world }) => {
  const ids = await seedIds(world, 2_000);
  const read = ids.filter((_, index) => index % 10 === 0);
  const { rowsMax, removedMax } = await world.explain((database) => readEvents(database, read, 10_000));
  expect(rowsMax).toBe(read.length);
  expect(removedMax).toBe(0);
});
