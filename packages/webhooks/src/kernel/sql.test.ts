import { oldBytesOf } from '@deedwire/testing/old-generation';
import { expect, test } from 'vitest';
import { pgArray, pgTextArray, TextDictionary } from './sql.ts';

test('writes numbers, ids, times and null', () => {
  expect(pgArray([1, '9223372036854775807', 2n, null, true])).toBe('{1,9223372036854775807,2,NULL,true}');
  expect(pgArray([1, -(2 ** 52), null, 0.5])).toBe('{1,-4503599627370496,null,0.5}');
  expect(pgArray([1, Number.NaN])).toBe('{1,NaN}');
  expect(pgArray([new Date(0)])).toBe('{1970-01-01T00:00:00.000Z}');
  expect(pgArray([])).toBe('{}');
});

test('keeps no string of an array or of a lookup in memory', async () => {
  // 100,000 of each. Each of the two could take 3 MB.
  expect(await oldBytesOf(new URL('../../test/support/old-bytes.ts', import.meta.url))).toBeLessThan(500_000);
});

test('escapes strings', () => {
  expect(pgTextArray(['a', 'b,c', 'say "x"', 'back\\slash', '', 'NULL', null, '{}'])).toBe(
    String.raw`{"a","b,c","say \"x\"","back\\slash","","NULL",NULL,"{}"}`,
  );
});

test('assigns one number to equal texts', () => {
  const dictionary = new TextDictionary();
  expect(['b', 'a', 'b'].map((text) => dictionary.add(text))).toEqual([1, 2, 1]);
  expect(dictionary.toPgArray()).toBe('{"b","a"}');
});
