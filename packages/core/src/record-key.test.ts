import { expect, test } from 'vitest';
import { hashRecordKey, readRecordKey } from './record-key.ts';

// The function append_event() of the database computes the same.
test.each([
  ['SO-2026/0001', '7834253358647010543'],
  ['0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c', '8516222541460089502'],
  ['ä', '3739913210162221132'],
  ['4711', '6801857526598801002'],
])('the number of %s is 63 bits of its SHA-256', (key, number) => {
  expect(hashRecordKey(key)).toBe(number);
});

test.each([
  ['0190A5A7-8F3C-7C3E-9B1F-2D4E6F8A0B1C', '0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c'],
  ['0190A5A7-8F3C-7C3E-9B1F-2D4E6F8A0B1C ', '0190A5A7-8F3C-7C3E-9B1F-2D4E6F8A0B1C '],
  ['SO-2026/0001', 'SO-2026/0001'],
  ['a'.repeat(200), 'a'.repeat(200)],
  ['a'.repeat(201), null],
  ['é'.repeat(101), null],
  ['', null],
  ['a\0', null],
  ['\ud800', null],
])('reads %j as %j', (text, key) => {
  expect(readRecordKey(text)).toBe(key);
});
