import { expect, test } from 'vitest';
import { isEmail, isText, isTextOrBlank } from './text.ts';

test('counts code points', () => {
  expect(isText('😀'.repeat(10), 10)).toBe(true);
  expect(isText('😀'.repeat(11), 10)).toBe(false);
});

test.each([
  ['', 'blank'],
  [' \t\n', 'blank'],
  ['a\0b', 'NUL'],
  ['\ud800', 'a lone surrogate'],
])('rejects %j: %s', (value) => {
  expect(isText(value, 10)).toBe(false);
});

test('accepts blank text but not NUL in isTextOrBlank', () => {
  expect(isTextOrBlank('', 10)).toBe(true);
  expect(isTextOrBlank('\0', 10)).toBe(false);
});

test.each(['ada@example.com', "o'hara+tag@mail.example.co.uk", 'ü@bücher.example', 'root@localhost'])(
  'accepts %s as an email address',
  (value) => {
    expect(isEmail(value)).toBe(true);
  },
);

test.each([
  'ada',
  '@example.com',
  'ada@',
  'a@b@c',
  'ada @example.com',
  'ada@example..com',
  'ada@.com',
  'ada@example.com\n',
  `${'a'.repeat(250)}@b.co`,
])('rejects %j as an email address', (value) => {
  expect(isEmail(value)).toBe(false);
});
