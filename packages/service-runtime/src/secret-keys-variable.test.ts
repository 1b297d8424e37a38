import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { secretKeysVariable } from './secret-keys-variable.ts';

const variable = secretKeysVariable();
const keyOf = (seed: number) => createHash('sha512').update(String(seed)).digest();
const key = (seed: number, bytes = 32) => keyOf(seed).subarray(0, bytes).toString('base64');

test('keeps the order of the keys', () => {
  expect([...variable.parse(`new:${key(1)}, old_1-A:${key(2)}`)]).toEqual([
    ['new', keyOf(1).subarray(0, 32)],
    ['old_1-A', keyOf(2).subarray(0, 32)],
  ]);
});

test.each([
  ['', 'entry 1 is not'],
  [key(1), 'entry 1 is not'],
  [`:${key(1)}`, 'entry 1 is not'],
  [`k:${key(1)},`, 'entry 2 is not'],
  [`k:${key(1)},l:${key(1, 31)}`, 'entry 2 is not'],
  [`k:${key(1, 33)}`, 'entry 1 is not'],
  [`k:${keyOf(1).subarray(0, 32).toString('hex')}`, 'entry 1 is not'],
  [`k l:${key(1)}`, 'entry 1 is not'],
  [`${'k'.repeat(33)}:${key(1)}`, 'entry 1 is not'],
  [`k:${key(1)},k:${key(2)}`, "the key id 'k' twice"],
])('rejects %s without repeating a key', (text, problem) => {
  const message = variable.safeParse(text).error?.message;
  expect(message).toContain(problem);
  expect(message).not.toContain(key(1).slice(0, 8));
});

const hex = createHash('sha256').digest('hex');
const bytes = (byteAt: (index: number) => number) =>
  Buffer.from(Array.from({ length: 32 }, (_, index) => byteAt(index)));

test.each([
  ['zeros', Buffer.alloc(32)],
  ['a repeated byte', Buffer.alloc(32, 0xa7)],
  ['a pattern of 16 random bytes', Buffer.concat([keyOf(1).subarray(0, 16), keyOf(1).subarray(0, 16)])],
  ['text', Buffer.from('correct horse battery staple 42!')],
  ['hexadecimal text', Buffer.from(hex.slice(0, 32))],
  ['base64 text', Buffer.from(key(1).slice(0, 32))],
  ['0, 1, 2', bytes((index) => index)],
  ['255, 252, 249', bytes((index) => 255 - 3 * index)],
  ['a sequence that turns over', bytes((index) => (200 + 7 * index) % 256)],
])('rejects a key of %s, and says how to make one', (_kind, weak) => {
  const { success, error } = variable.safeParse(`good:${key(1)},weak:${weak.toString('base64')}`);
  expect(success).toBe(false);
  expect(error?.issues.map(({ message }) => message)).toEqual([
    "must contain random keys, and 'weak' is not. Make a key with: openssl rand -base64 32",
  ]);
});

test('accepts 1,000 keys of a random generator', () => {
  for (let seed = 0; seed < 1_000; seed += 1) expect(variable.safeParse(`k:${key(seed)}`).success).toBe(true);
});
