import { testService } from '@deedwire/core/test-service';
import { describe, expect, test } from 'vitest';
import { formatRecord, formatTable } from './table.ts';

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

test('a record has a line for each field', () => {
  expect(
    formatRecord([
      ['id', 'gid://service/Customer/4711'],
      ['seen', null],
    ]),
  ).toBe('id    gid://service/Customer/4711\nseen  -');
});

describe('in a terminal', () => {
  const now = new Date('2026-11-20T12:00:00Z');

  test('shows relative times, in both directions', () => {
    const times = ['2026-11-20T11:59:18Z', '2026-11-20T12:00:00Z', '2026-11-20T13:59:59Z', '2026-11-16T00:00:00Z'];
    const table = formatTable(times, { at: (time) => new Date(time) }, { service: testService, width: 80, now });
    expect(table.split('\n')).toEqual(['at', '42s ago', 'in 0s', 'in 1h', '4d ago']);
  });

  test('shortens global identifiers, so that commands accept them, and cuts long texts', () => {
    const ids = [
      'gid://service/WebhookDelivery/118929780006455160',
      'gid://service/WebhookListener/7',
      'gid://service/Customer/7',
      `https://receiver.example/${'x'.repeat(20)}`,
      'customer_11bebcefd2f78ab79f118633',
    ];
    const table = formatTable(ids, { id: (id) => id }, { service: testService, width: 80, now });
    expect(table.split('\n')).toEqual([
      'id',
      '118929780006455160',
      'Listener/7',
      'Customer/7',
      'https://receiver.example/xxxxxxxxxx…',
      'customer_11bebcefd2f78ab79f118633',
    ]);
  });

  test('aligns and cuts by what a character takes in a terminal, and splits none', () => {
    const names = ['山田太郎', `e\u0301${'😀'.repeat(18)}`, `${'x'.repeat(34)}😀`];
    const table = formatTable(names, { name: (name) => name, n: () => 1 }, { service: testService, width: 80, now });
    expect(table.split('\n')).toEqual([
      `name${' '.repeat(32)}  n`,
      `山田太郎${' '.repeat(28)}  1`,
      `e\u0301${'😀'.repeat(17)}…  1`,
      `${'x'.repeat(34)}😀  1`,
    ]);
  });

  test('shows the first columns that fit, and names the others', () => {
    const columns = { a: () => '12345', b: () => '12345', c: () => '1' };
    expect(formatTable([1], columns, { service: testService, width: 15, now })).toBe(
      'a      b      c\n12345  12345  1',
    );
    expect(formatTable([1], columns, { service: testService, width: 14, now }).split('\n')).toEqual([
      'a      b',
      '12345  12345',
      '',
      'Columns that',
      'do not fit: c',
      '--json prints everything.',
    ]);
    expect(formatTable([1], columns, { service: testService, width: 4, now })).toMatch(/^a\n12345\n/);
  });
});
