import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountId, laneId, subscriptionId } from '../../test/dispatch/ids.ts';
import { World } from '../../test/dispatch/world.ts';
import { LaneQueue } from './lane-queue.ts';
import { Account, Lane, QueuedDelivery } from './lane.ts';

test('yields deliveries by due time, then by sequence, and counts their bytes', () => {
  const world = new World();
  const lane = new Lane(subscriptionId(1), new Account(accountId(1)), 5_000);
  const added = fc.record({ dueAtMs: fc.integer({ min: 0, max: 5 }), bytes: fc.integer({ min: 0, max: 9 }) });
  fc.assert(
    fc.property(fc.array(added, { maxLength: 40 }), fc.nat(40), (given, removed) => {
      const queue = new LaneQueue();
      const all = given.map(({ dueAtMs, bytes }) => {
        const [delivery] = world.makeDeliveries(laneId(1), 1, { body: new Uint8Array(bytes) });
        if (delivery === undefined) throw new Error('No delivery.');
        return new QueuedDelivery(lane, delivery, dueAtMs);
      });
      // Reversed, so that each is added in the middle.
      for (const queued of all.toReversed()) queue.add(queued);
      const expected = all.toSorted((a, b) => a.dueAtMs - b.dueAtMs || a.sequence - b.sequence);
      for (let count = 0; count < removed; count += 1) {
        const isFirst = count % 2 === 0;
        expect(isFirst ? queue.removeFirst() : queue.removeLast()).toBe(isFirst ? expected.shift() : expected.pop());
      }
      expect(queue.length).toBe(expected.length);
      expect(queue.first).toBe(expected[0]);
      expect(queue.bodyBytes).toBe(expected.reduce((sum, { delivery }) => sum + delivery.body.length, 0));
    }),
  );
});
