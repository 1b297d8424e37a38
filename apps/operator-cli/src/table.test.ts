import { expect, test } from 'vitest';
import { formatTable } from './table.ts';

const rows = [
  { name: 'Ada', at: new Date('2026-11-20T10:00:00Z') },
  { name: 'Chloé\u001B[2J\n\u202E', at: null },
];

test('aligns columns and shows control characters and those without a width as escapes', () => {
  expect(formatTable(rows, { name: (row) => row.name, seen: (row) => row.at })).toBe(
    [
      'name                        seen',
      'Ada                         2026-11-20T10:00:00.000Z',
      'Chloé\\u001b[2J\\u000a\\u202e  -',
    ].join('\n'),
  );
});

test('returns only the heading when there are no rows', () => {
  expect(formatTable([], { name: () => '', count: () => 0 })).toBe('name  count');
});
