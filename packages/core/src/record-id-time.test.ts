import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { idAt, nearestIdAt, timeOf } from './record-id-time.ts';
import { toRecordId } from './record-id.ts';

const epochMs = Date.UTC(2026, 0, 1);
const lastMs = epochMs + 2 ** 41 - 1;
const times = fc.integer({ min: epochMs + 1, max: lastMs }).map((ms) => new Date(ms));
const ids = fc.bigInt({ min: 1n << 22n, max: 2n ** 63n - 1n }).map((id) => toRecordId<'Order'>(id.toString()));

test('converts between times and ids', () => {
  expect(idAt(new Date('2026-01-01T00:00:00.001Z'))).toBe(String(2 ** 22));
  expect(idAt(new Date('2026-11-03T09:30:00.000Z'))).toBe('111034132070400000');
  expect(timeOf(toRecordId('111034132070400000'))).toEqual(new Date('2026-11-03T09:30:00.000Z'));
  expect(timeOf(toRecordId('9223372036854775807'))).toEqual(new Date('2095-09-07T15:47:35.551Z'));
});

test('an id lies between the smallest id of its millisecond and that of the next', () => {
  fc.assert(
    fc.property(ids, (id) => {
      const time = timeOf(id);
      expect(BigInt(idAt(time))).toBeLessThanOrEqual(BigInt(id));
      expect(BigInt(idAt(time)) + 2n ** 22n).toBeGreaterThan(BigInt(id));
    }),
  );
});

test('the smallest id of a millisecond belongs to it, and the id before to the millisecond before', () => {
  fc.assert(
    fc.property(times, (time) => {
      const smallest = idAt<'Order'>(time);
      expect(timeOf(smallest)).toEqual(time);
      const before = BigInt(smallest) - 1n;
      expect(timeOf(toRecordId(before.toString()))).toEqual(new Date(time.getTime() - 1));
    }),
  );
});

test('ranges of time are ranges of ids', () => {
  fc.assert(
    fc.property(times, times, ids, (from, until, id) => {
      const isInTimes = from <= timeOf(id) && timeOf(id) < until;
      const isInIds = BigInt(idAt(from)) <= BigInt(id) && BigInt(id) < BigInt(idAt(until));
      expect(isInIds).toBe(isInTimes);
    }),
  );
});

test.each([
  ['before 2026', new Date(epochMs - 1)],
  ['at the start of 2026, whose smallest id is 0', new Date(epochMs)],
  ['after the last time', new Date(lastMs + 1)],
  ['invalid', new Date('nonsense')],
])('rejects a time %s', (_, time) => {
  expect(() => idAt(time)).toThrow(RangeError);
});

test('the nearest id of a time that ids cannot name is the first or the last', () => {
  expect(nearestIdAt(new Date('2026-11-03T09:30:00.000Z'))).toBe('111034132070400000');
  expect(nearestIdAt(new Date('0001-01-01T00:00:00.000Z'))).toBe(String(2 ** 22));
  expect(timeOf(nearestIdAt(new Date('9999-12-31T23:59:59.999Z')))).toEqual(new Date('2095-09-07T15:47:35.551Z'));
});
