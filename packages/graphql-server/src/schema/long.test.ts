import { parseValue } from 'graphql';
import { expect, test } from 'vitest';
import { formatLong, parseLong, parseLongLiteral } from './scalars.ts';

test.each([0, -1, 2_147_483_648, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])('accepts %s', (value) => {
  expect(parseLong(value)).toBe(value);
  expect(parseLongLiteral(parseValue(String(value)))).toBe(value);
  expect(formatLong(value)).toBe(value);
});

test.each([
  [1.5, '1.5'],
  [Number.MAX_SAFE_INTEGER + 1, '9007199254740992'],
  ['1', '"1"'],
  [null, 'object'],
])('rejects the variable %s', (value, found) => {
  expect(() => parseLong(value)).toThrow(
    `A Long is an integer from -9007199254740991 to 9007199254740991; found ${found}.`,
  );
});

test.each([
  ['1.0', '1.0'],
  ['9007199254740992', '9007199254740992'],
  ['-9007199254740992', '-9007199254740992'],
  ['"1"', 'StringValue'],
  ['{ a: 1 }', 'ObjectValue'],
])('rejects the literal %s', (literal, found) => {
  expect(() => parseLongLiteral(parseValue(literal))).toThrow(`found ${found}.`);
});

test.each([Number.MAX_SAFE_INTEGER + 1, 0.5, Number.NaN])('does not send %s, which is not exact', (value) => {
  expect(() => formatLong(value)).toThrow(RangeError);
});
