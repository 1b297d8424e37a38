import { expect, test } from 'vitest';
import { changedPaths } from './changed-paths.ts';

test.each<[string, object, object, string[]]>([
  ['nothing', { a: { b: 'x' }, c: null }, { c: null, a: { b: 'x' } }, []],
  ['a member at each depth, sorted', { b: 1, a: { c: 1, b: 1 } }, { b: 2, a: { c: 2, b: 2 } }, ['a.b', 'a.c', 'b']],
  ['a member that becomes null', { a: { b: 'x' } }, { a: { b: null } }, ['a.b']],
  ['an object that was null', { a: null }, { a: { b: 'x' } }, ['a']],
  ['a member on one side only', { a: 1 }, { b: null }, ['a', 'b']],
  ['a path once that two members have', { 'a.b': 1, a: { b: 1 } }, { 'a.b': 2, a: { b: 2 } }, ['a.b']],
  ['an array', { a: ['x', 'y'], b: ['x'] }, { a: ['y', 'x'], b: ['x'] }, ['a']],
  ['an array that becomes an object', { a: [] }, { a: {} }, ['a']],
])('names %s', (_, before, after, paths) => {
  expect(changedPaths(before, after)).toEqual(paths);
  expect(changedPaths(after, before)).toEqual(paths);
});
