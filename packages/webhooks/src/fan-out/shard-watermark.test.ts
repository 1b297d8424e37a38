import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShardMark } from './shard-mark.ts';

/** A snapshot while the transactions from `xmin` on are in progress, and `xmax` is the next to begin. */
const during = (xmin: number, xmax: number) => ({ xmin: BigInt(xmin), xmax: BigInt(xmax) });

test('passes a position when the transactions that were in progress have ended', () => {
  const mark = new ShardMark();
  mark.wasRead(0, null, 7, during(100, 105));
  expect(mark.mark).toBe(0);
  mark.wasRead(0, null, 7, during(104, 110));
  expect(mark.mark).toBe(0);
  mark.wasRead(0, null, 7, during(105, 110));
  expect(mark.mark).toBe(7);
});

test('passes only what the read covers', () => {
  const mark = new ShardMark();
  mark.wasRead(0, null, 9, during(100, 101));
  mark.wasRead(0, 5, 5, during(200, 201));
  expect(mark.mark).toBe(0);
  mark.wasRead(5, null, 9, during(200, 201));
  expect(mark.mark).toBe(9);
});

test('a continued read passes what ended before its first statement, not before a later one', () => {
  const mark = new ShardMark();
  mark.wasRead(0, null, 9, during(100, 150));
  mark.wasRead(0, 5, 5, during(149, 200));
  mark.wasRead(5, null, 9, during(150, 200));
  expect(mark.mark).toBe(0);
});

test('a read that starts after the mark does not raise it', () => {
  const mark = new ShardMark();
  mark.wasRead(0, null, 9, during(100, 101));
  mark.wasRead(8, null, 9, during(200, 201));
  expect(mark.mark).toBe(0);
});

test('while a long transaction holds the mark, reads start near the tip, and some at the mark', () => {
  const mark = new ShardMark();
  for (let read = 1; read <= 100; read += 1) {
    mark.wasRead(mark.readAfter(false), null, read * 10, during(50, 1_000 + read));
  }
  expect(mark.mark).toBe(0);
  expect(mark.readAfter(true)).toBe(0);
  expect(mark.readAfter(false)).toBeGreaterThan(850);
  expect(mark.readAfter(false)).toBeLessThan(1_000);
  mark.wasRead(mark.readAfter(true), null, 1_000, during(2_000, 2_001));
  expect(mark.mark).toBe(1_000);
});

test('never passes a position that a transaction in progress can still make visible', () => {
  const scenario = fc.array(fc.record({ begins: fc.nat(3), ends: fc.nat(3), seed: fc.nat() }), { maxLength: 60 });
  fc.assert(
    fc.property(scenario, (rounds) => {
      const mark = new ShardMark();
      let transactions = 100;
      let positions = 0;
      const open: { id: number; position: number }[] = [];
      const visible: number[] = [];
      for (const { begins, ends, seed } of rounds) {
        // The snapshot is taken before some of them begin and end.
        const snapshot = during(Math.min(transactions, ...open.map(({ id }) => id)), transactions);
        const highest = Math.max(0, ...visible);
        mark.wasRead(mark.readAfter(true), null, highest, snapshot);
        expect(open.every(({ position }) => position > mark.mark)).toBe(true);
        for (let index = 0; index < begins; index += 1) {
          open.push({ id: transactions, position: (positions += 1) });
          transactions += 1;
        }
        for (let index = 0; index < ends && open.length > 0; index += 1) {
          const [ended] = open.splice((seed + index) % open.length, 1);
          if (ended !== undefined) visible.push(ended.position);
        }
      }
    }),
  );
});
