import { expect, test } from 'vitest';
import { formatTable } from './table.ts';

const rows = [
  { name: 'Ada', at: new Date('2026-11-20T10:00:00Z') },
  { name: 'Chloé\u001B[2J', at: null },
];

test('columns are as wide as their widest cell, and control characters do not reach the terminal', () => {
  expect(formatTable(rows, { name: (row) => row.name, seen: (row) => row.at })).toBe(
    ['name       seen', 'Ada        2026-11-20T10:00:00.000Z', 'Chloé [2J  -'].join('\n'),
  );
});

test('no rows: the heading alone', () => {
  expect(formatTable([], { name: () => '', count: () => 0 })).toBe('name  count');
});
