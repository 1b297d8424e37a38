import { expect, test } from 'vitest';
import { differencesOf } from './payload-differences.ts';

test('names what was added, removed and changed, at any depth', () => {
  const before = { version: '1', data: { id: 'a', at: null, tags: ['x', 'y'], empty: {} } };
  const after = { version: '2', data: { tags: ['x', 'z', 'y'], at: null, empty: [], record: { id: 'a' } } };
  const found = differencesOf(JSON.stringify(before), JSON.stringify(after));
  expect(found.map(({ path, mark, ...values }) => [mark, path, values.before, values.after])).toEqual([
    ['CHANGED', 'version', '"1"', '"2"'],
    ['REMOVED', 'data.id', '"a"', null],
    ['SAME', 'data.at', 'null', 'null'],
    ['SAME', 'data.tags[0]', '"x"', '"x"'],
    ['CHANGED', 'data.tags[1]', '"y"', '"z"'],
    ['CHANGED', 'data.empty', '{}', '[]'],
    ['ADDED', 'data.tags[2]', null, '"y"'],
    ['ADDED', 'data.record.id', null, '"a"'],
  ]);
});
