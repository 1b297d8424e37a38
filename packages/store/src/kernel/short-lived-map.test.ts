import { seededRandom } from '@deedwire/testing';
import { oldBytesOf } from '@deedwire/testing/old-generation';
import { expect, test } from 'vitest';
import { ShortLivedMap } from './short-lived-map.ts';

test.each<[string, (number: number) => string | number]>([
  ['texts', (number) => `key-${number}`],
  ['numbers', (number) => 2 ** 52 + number],
])('gives what a map would, with %s as keys', (_, keyOf) => {
  const expected = new Map<string | number, number>();
  const map = new ShortLivedMap<string | number, number>();
  const random = seededRandom(20_261_123);
  for (let step = 0; step < 10_000; step += 1) {
    const key = keyOf(Math.floor(random() * 1_000));
    expect(map.get(key)).toBe(expected.get(key));
    if (random() < 0.3 || expected.has(key)) {
      map.delete(key);
      expected.delete(key);
    } else {
      map.set(key, step);
      expected.set(key, step);
    }
  }
  for (const [key, value] of expected) expect(map.get(key)).toBe(value);
  expect(map.size).toBe(expected.size);
  expect(map.values().toSorted((a, b) => a - b)).toEqual([...expected.values()].toSorted((a, b) => a - b));
  const [key = ''] = expected.keys();
  map.set(key, -1);
  expect([map.get(key), map.size]).toEqual([-1, expected.size]);
});

test('entries that have left are collected without a full collection, even after a time in which entries lived long', async () => {
  const bytes = await oldBytesOf(new URL('../../test/support/old-bytes.ts', import.meta.url));
  // Of 20 MB. With a `Map`, 9 MB; with entries that are object literals, 19.7 MB.
  expect(bytes).toBeLessThan(1_000_000);
});
