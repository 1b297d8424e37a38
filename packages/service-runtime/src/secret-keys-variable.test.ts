import { expect, test } from 'vitest';
import { secretKeysVariable } from './secret-keys-variable.ts';

const variable = secretKeysVariable();
const key = (byte: number, bytes = 32) => Buffer.alloc(bytes, byte).toString('base64');

test('keeps the order of the keys', () => {
  expect([...variable.parse(`new:${key(1)}, old_1-A:${key(2)}`)]).toEqual([
    ['new', Buffer.alloc(32, 1)],
    ['old_1-A', Buffer.alloc(32, 2)],
  ]);
});

test.each([
  ['', 'entry 1 is not'],
  [key(1), 'entry 1 is not'],
  [`:${key(1)}`, 'entry 1 is not'],
  [`k:${key(1)},`, 'entry 2 is not'],
  [`k:${key(1)},l:${key(1, 31)}`, 'entry 2 is not'],
  [`k:${key(1, 33)}`, 'entry 1 is not'],
  [`k:${Buffer.alloc(32, 1).toString('hex')}`, 'entry 1 is not'],
  [`k l:${key(1)}`, 'entry 1 is not'],
  [`${'k'.repeat(33)}:${key(1)}`, 'entry 1 is not'],
  [`k:${key(1)},k:${key(2)}`, "the key id 'k' twice"],
])('rejects %s without repeating a key', (text, problem) => {
  const message = variable.safeParse(text).error?.message;
  expect(message).toContain(problem);
  expect(message).not.toContain(key(1).slice(0, 8));
});
