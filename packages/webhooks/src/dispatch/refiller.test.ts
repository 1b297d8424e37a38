import { expect, test } from 'vitest';
import { accountId, subscriptionId } from '../../test/dispatch/ids.ts';
import { VirtualClock } from '../../test/dispatch/virtual-clock.ts';
import { Account, Lane } from './lane.ts';
import { Memory } from './memory.ts';
import { Refiller } from './refiller.ts';
import { SteadyClock } from './steady-clock.ts';

test('a quick lane does not wait behind one that became slow while memory is short', async () => {
  const clock = new VirtualClock();
  const memory = new Memory({ queueDeliveries: 16, queueBodyBytes: 1_000, deliveries: 100, bodyBytes: 10_000 });
  const read: string[] = [];
  const refiller = new Refiller({
    storage: {
      async refill(lane) {
        read.push(lane);
        await clock.wait(100);
        return { deliveries: [], nextDueAtMs: null };
      },
      walk: () => Promise.reject(new Error('No lane has a mark.')),
    },
    clock: new SteadyClock(clock),
    memory,
    onRead: () => {},
    onRefused: () => {},
    onUnavailable: () => {},
    onResumed: () => {},
  });
  // Above 3/4, slow lanes have no room.
  memory.deliveries = 80;
  const lanes = Array.from({ length: 7 }, (_, index) => {
    return new Lane(subscriptionId(index + 1), new Account(accountId(index + 1)), 5_000);
  });
  for (const lane of lanes) refiller.request(lane);
  expect(read).toEqual(['1', '2', '3', '4']);
  lanes[4]?.receiver.recordAttempt(501, true, null, clock.nowMs());
  lanes[5]?.receiver.recordAttempt(501, true, null, clock.nowMs());
  await clock.advance(150);
  expect(read).toEqual(['1', '2', '3', '4', '7']);
  memory.deliveries = 10;
  await clock.advance(200);
  expect(read.toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  expect(memory.deliveries).toBe(10 - 1);
});
