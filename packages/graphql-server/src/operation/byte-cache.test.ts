import { expect, test } from 'vitest';
import { createByteCache } from './byte-cache.ts';

test('returns cached values and undefined for others', () => {
  const cache = createByteCache<number>(100);
  cache.set('a', 1, 10);
  cache.set('a', 2, 10);
  expect([cache.get('a'), cache.get('b'), cache.bytes]).toEqual([1, undefined, 10]);
});

test('discards the oldest entries that were never read beyond a quarter of the limit', () => {
  const cache = createByteCache<string>(100);
  for (const key of 'abcd') cache.set(key, key, 10);
  expect(cache.bytes).toBe(20);
  expect([...'abcd'].map((key) => cache.get(key))).toEqual([undefined, undefined, 'c', 'd']);
});

test('keeps entries that were read, however many others are set', () => {
  const cache = createByteCache<string>(100);
  for (const key of 'abcdefg') {
    cache.set(key, key, 10);
    cache.get(key);
  }
  for (let number = 0; number < 1000; number += 1) cache.set(`garbage ${number}`, '', 10);
  expect([...'abcdefg'].map((key) => cache.get(key))).toEqual([...'abcdefg']);
  expect(cache.bytes).toBe(90);
});

test('discards the least recently read entry when those that were read exceed three quarters of the limit', () => {
  const cache = createByteCache<string>(100);
  for (const key of 'abcdefgh') {
    cache.set(key, key, 10);
    cache.get(key);
    cache.get('a');
  }
  for (let number = 0; number < 1000; number += 1) cache.set(`garbage ${number}`, '', 10);
  expect([...'abcdefgh'].map((key) => cache.get(key) ?? '-').join('')).toBe('a-cdefgh');
});

test('never exceeds its limit, and does not keep an entry that is larger than a quarter of it', () => {
  const cache = createByteCache<number>(100);
  for (let number = 0; number < 3000; number += 1) {
    const key = String(number % 37);
    if (number % 3 === 0) cache.get(key);
    else cache.set(key, number, 1 + (number % 30));
    expect(cache.bytes).toBeLessThanOrEqual(100);
  }
  cache.set('large', 1, 26);
  expect(cache.get('large')).toBeUndefined();
});
