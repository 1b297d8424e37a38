import { array, assert, boolean, constantFrom, property, stringMatching, tuple, uniqueArray } from 'fast-check';
import { expect, test } from 'vitest';
import { matchingPaths } from '../source/package-files.ts';
import { filePatterns } from './find-schemas.ts';

function matched(patterns: readonly string[], all: readonly string[]): string[] {
  return matchingPaths(
    new Map(
      all.map((path) => [
        path,
        () => {
          throw new Error('not read');
        },
      ]),
    ),
    patterns,
  );
}

test.each([
  ['one file', ['schema/a.graphql'], ['schema/a.graphql'], ['schema/a.graphql']],
  ['all files of a folder', ['a/x.json', 'a/y.json'], ['a/x.json', 'a/y.json', 'a/z.graphql'], ['a/*.json']],
  ['the outermost folder', ['a/b/x.json', 'a/c/y.json'], ['a/b/x.json', 'a/c/y.json', 'z.json'], ['a/**/*.json']],
  ['some files of a folder', ['a/x.json', 'a/y.json'], ['a/x.json', 'a/y.json', 'a/z.json'], ['a/x.json', 'a/y.json']],
  [
    'an ending of two parts',
    ['a/x.schema.json', 'a/y.schema.json'],
    ['a/x.schema.json', 'a/y.schema.json', 'a/z.json'],
    ['a/*.schema.json'],
  ],
  [
    'files beside an ending of two parts',
    ['a/x.json', 'a/y.json'],
    ['a/x.json', 'a/y.json', 'a/z.schema.json'],
    ['a/x.json', 'a/y.json'],
  ],
  // picomatch reads `+` as a quantifier, and three of them as a pattern that matches nothing.
  ['a name with signs of patterns', ['a/+++*.json'], ['a/+++*.json', 'a/+.json'], [String.raw`a/\+\+\+\*.json`]],
  ['files in the root', ['x.json', 'y.json'], ['x.json', 'y.json'], ['x.json', 'y.json']],
])('names %s', (_, found, all, patterns) => {
  expect(filePatterns(found, all)).toEqual(patterns);
});

test('matches exactly the files, whatever their names', () => {
  // Without backslashes: picomatch compares a pattern with a path literally first.
  const step = stringMatching(/^[ab[\](){}!*?+@|-][ab[\](){}!*?+@|.-]{0,3}$/);
  const path = tuple(array(step, { maxLength: 3 }), step, constantFrom('.json', '.schema.json', '.graphql')).map(
    ([folders, name, ending]) => [...folders, `${name}${ending}`].join('/'),
  );
  const files = uniqueArray(tuple(path, boolean()), {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 12,
  });
  assert(
    property(files, (each) => {
      const all = each.map(([name]) => name);
      const found = each.filter(([, isFound]) => isFound).map(([name]) => name);
      expect(matched(filePatterns(found, all), all)).toEqual(found.toSorted());
    }),
    { numRuns: Number(process.env['RUNS'] ?? 200) },
  );
});
