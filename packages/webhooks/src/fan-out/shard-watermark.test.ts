import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShardWatermark } from './shard-watermark.ts';

/** The time of a read where it does not matter. */
const anyMs = 0;

/** A snapshot while the transactions from `xmin` on are in progress, and `xmax` is the next to begin. */
const during = (xmin: number, xmax: number) => ({ xmin: BigInt(xmin), xmax: BigInt(xmax) });

test('passes a position once the transactions that were in progress have ended', () => {
  const watermark = new ShardWatermark();
  watermark.wasRead(0, null, 7, during(100, 105), anyMs);
  expect(watermark.position).toBe(0);
  watermark.wasRead(0, null, 7, during(104, 110), anyMs);
  expect(watermark.position).toBe(0);
  watermark.wasRead(0, null, 7, during(105, 110), anyMs);
  expect(watermark.position).toBe(7);
});

test('passes only positions that the read covers', () => {
  const watermark = new ShardWatermark();
  watermark.wasRead(0, null, 9, during(100, 101), anyMs);
  watermark.wasRead(0, 5, 5, during(200, 201), anyMs);
  expect(watermark.position).toBe(0);
  watermark.wasRead(5, null, 9, during(200, 201), anyMs);
  expect(watermark.position).toBe(9);
});

test('a continued read counts transactions that ended before its first statement, not before a later one', () => {
  const watermark = new ShardWatermark();
  watermark.wasRead(0, null, 9, during(100, 150), anyMs);
  watermark.wasRead(0, 5, 5, during(149, 200), anyMs);
  watermark.wasRead(5, null, 9, during(150, 200), anyMs);
  expect(watermark.position).toBe(0);
});

test('a read that starts after the watermark does not raise it', () => {
  const watermark = new ShardWatermark();
  watermark.wasRead(0, null, 9, during(100, 101), anyMs);
  watermark.wasRead(8, null, 9, during(200, 201), anyMs);
  expect(watermark.position).toBe(0);
});

test('while a long transaction holds the watermark back, most reads start near the tip', () => {
  const watermark = new ShardWatermark();
  for (let read = 1; read <= 100; read += 1) {
    watermark.wasRead(watermark.readAfter(false), null, read * 10, during(50, 1_000 + read), read * 50);
  }
  expect(watermark.position).toBe(0);
  expect(watermark.readAfter(true)).toBe(0);
  expect(watermark.readAfter(false)).toBeGreaterThan(850);
  expect(watermark.readAfter(false)).toBeLessThan(1_000);
  watermark.wasRead(watermark.readAfter(true), null, 1_000, during(2_000, 2_001), 5_050);
  expect(watermark.position).toBe(1_000);
});

test('many reads within a quarter of a second do not pass an entry whose transaction is in progress', () => {
  const watermark = new ShardWatermark();
  const read = (number: number, nowMs: number): void =>
    watermark.wasRead(watermark.readAfter(false), null, number * 10, during(50, 1_000 + number), nowMs);
  for (let number = 1; number <= 100; number += 1) read(number, number * 2);
  expect(watermark.readAfter(false)).toBe(0);
  read(101, 300);
  expect(watermark.readAfter(false)).toBeGreaterThan(0);
  expect(watermark.readAfter(false)).toBeLessThan(500);
});

test('never passes a position that a transaction in progress can still make visible', () => {
  const scenario = fc.array(fc.record({ begins: fc.nat(3), ends: fc.nat(3), seed: fc.nat() }), { maxLength: 60 });
  fc.assert(
    fc.property(scenario, (rounds) => {
      const watermark = new ShardWatermark();
      let transactions = 100;
      let positions = 0;
      const open: { id: number; position: number }[] = [];
      const visible: number[] = [];
      for (const { begins, ends, seed } of rounds) {
        // The snapshot is taken before some of them begin and end.
        const snapshot = during(Math.min(transactions, ...open.map(({ id }) => id)), transactions);
        const highest = Math.max(0, ...visible);
        watermark.wasRead(watermark.readAfter(true), null, highest, snapshot, anyMs);
        expect(open.every(({ position }) => position > watermark.position)).toBe(true);
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
