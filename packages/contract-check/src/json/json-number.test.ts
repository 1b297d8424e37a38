import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonNumber } from './json-value.ts';

const number = (text: string): JsonNumber => JsonNumber.parse(text);

describe('JsonNumber', () => {
  test('prints, compares and rounds doubles like Number', () => {
    const double = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(double, double, (a, b) => {
        const [one, other] = [number(String(a)), number(String(b))];
        // Zero has no sign here.
        expect(String(one)).toBe(String(a + 0));
        expect(Math.sign(one.compare(other))).toBe(Math.sign(Number(a > b) - Number(a < b)));
        expect(one.isInteger).toBe(Number.isInteger(a));
        expect(Number(String(one.floor()))).toBe(Math.floor(a) + 0);
      }),
    );
  });

  test.each([
    ['9007199254740993', '9007199254740992'],
    ['0.3000000000000000000001', '0.3'],
    ['1e400', '1e399'],
    ['1e-400', '0'],
    ['-1', '-1.00000000000000000000000001'],
    ['1e99999999999999999999', '9e99999999999999999998'],
  ])('%s is larger than %s', (larger, smaller) => {
    expect(number(larger).compare(number(smaller))).toBeGreaterThan(0);
    expect(number(smaller).compare(number(larger))).toBeLessThan(0);
  });

  test.each([
    ['0.3', '0.1', true],
    ['0.35', '0.1', false],
    ['9007199254740993', '3', true],
    ['9007199254740993', '2', false],
    ['1e99999999999999999999', '1024', true],
    ['1e99999999999999999999', '3', false],
    ['1e9', '1e-99999999999999999999', true],
    ['1e-3', '1', false],
    ['1.00000000000000000001', '1', false],
  ])('whether %s is a multiple of %s: %s', (value, divisor, expected) => {
    expect(number(value).isMultipleOf(number(divisor))).toBe(expected);
  });
});
