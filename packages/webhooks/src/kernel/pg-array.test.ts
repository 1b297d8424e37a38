import { expect, test } from 'vitest';
import { pgArray, pgTextArray, TextDictionary } from './pg-array.ts';

test('writes numbers, ids, times and null', () => {
  expect(pgArray([1, '9223372036854775807', 2n, null, true])).toBe('{1,9223372036854775807,2,NULL,true}');
  expect(pgArray([new Date(0)])).toBe('{1970-01-01T00:00:00.000Z}');
  expect(pgArray([])).toBe('{}');
});

test('escapes texts', () => {
  expect(pgTextArray(['a', 'b,c', 'say "x"', 'back\\slash', '', 'NULL', null, '{}'])).toBe(
    String.raw`{"a","b,c","say \"x\"","back\\slash","","NULL",NULL,"{}"}`,
  );
});

test('assigns one number to equal texts', () => {
  const dictionary = new TextDictionary();
  expect(['b', 'a', 'b'].map((text) => dictionary.add(text))).toEqual([1, 2, 1]);
  expect(dictionary.toPgArray()).toBe('{"b","a"}');
});
