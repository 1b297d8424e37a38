import { expect, test } from 'vitest';
import { isEmail, isText, isTextOrBlank } from './text.ts';

test('a text is counted in code points', () => {
  expect(isText('😀'.repeat(10), 10)).toBe(true);
  expect(isText('😀'.repeat(11), 10)).toBe(false);
});

test.each([
  ['', 'blank'],
  [' \t\n', 'blank'],
  ['a\0b', 'NUL'],
  ['\ud800', 'a lone surrogate'],
])('%j is refused: %s', (value) => {
  expect(isText(value, 10)).toBe(false);
});

test('a text that may be blank may not be broken', () => {
  expect(isTextOrBlank('', 10)).toBe(true);
  expect(isTextOrBlank('\0', 10)).toBe(false);
});

test.each(['ada@example.com', "o'hara+tag@mail.example.co.uk", 'ü@bücher.example', 'root@localhost'])(
  '%s can be an address',
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
])('%j cannot be an address', (value) => {
  expect(isEmail(value)).toBe(false);
});
