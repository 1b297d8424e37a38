import { expect, test } from 'vitest';
import { headerValues } from './header-values.ts';

test('returns the values of a header in order, whatever its case', () => {
  const rawHeaders = [
    'Host',
    'a',
    'Content-Type',
    'x',
    'content-type',
    'y, z',
    'Content-Typo',
    'n',
    'CONTENT-TYPE',
    '',
  ];
  expect(headerValues(rawHeaders, 'content-type')).toEqual(['x', 'y, z', '']);
  expect(headerValues(rawHeaders, 'accept')).toEqual([]);
});
