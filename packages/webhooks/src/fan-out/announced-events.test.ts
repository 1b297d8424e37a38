import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import type { EventId } from '../kernel/ids.ts';
import { AnnouncedEvents } from './announced-events.ts';
import type { StoredEvent } from './renderer.ts';

const id = (number: number): EventId => toRecordId(String(number));
const ids = (...numbers: number[]): EventId[] => numbers.map(id);

function event(eventId: EventId): StoredEvent {
  return {
    id: eventId,
    accountId: toRecordId('64'),
    interfaceName: 'partner',
    type: 'referral.created',
    occurredAt: new Date(0),
    snapshot: {},
    requestId: null,
    isTest: false,
  };
}

function announcedEvents(read = async (eventId: EventId): Promise<StoredEvent | undefined> => event(eventId)) {
  const reads: EventId[] = [];
  const announced = new AnnouncedEvents((eventId) => {
    reads.push(eventId);
    return read(eventId);
  });
  return { announced, reads };
}

test('an announced event is read at once and returned once', async () => {
  const { announced, reads } = announcedEvents();
  announced.announce(id(1));
  announced.announce(id(1));
  announced.announce(id(2));
  expect(reads).toEqual([id(1), id(2)]);
  const taken = await announced.take(ids(2, 1));
  expect(ids(1, 2).map((eventId) => taken?.get(eventId))).toEqual(ids(1, 2).map(event));
  expect(await announced.take(ids(1))).toBeNull();
});

test('returns nothing if one of the events was not announced, not found or not read', async () => {
  const { announced } = announcedEvents(async (eventId) => {
    if (eventId === id(3)) throw new Error('The database is unavailable.');
    return eventId === id(2) ? undefined : event(eventId);
  });
  for (const others of [[4], [2], [3]]) {
    announced.announce(id(1));
    announced.announce(id(2));
    announced.announce(id(3));
    expect(await announced.take(ids(1, ...others))).toBeNull();
  }
});

test('ignores announcements beyond sixteen, and forgets those of the interval before the last', async () => {
  const { announced, reads } = announcedEvents();
  for (let number = 1; number <= 20; number += 1) announced.announce(id(number));
  expect(reads).toHaveLength(16);
  announced.age();
  expect(await announced.take(ids(1))).not.toBeNull();
  announced.age();
  expect(await announced.take(ids(2))).toBeNull();
  announced.announce(id(2));
  announced.age();
  expect(await announced.take(ids(2))).not.toBeNull();
});
