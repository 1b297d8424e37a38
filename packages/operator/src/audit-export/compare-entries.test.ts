import { expect, test } from 'vitest';
import { changedFields, compareEntries, isPastRetention, type StoredEntry } from './compare-entries.ts';
import type { ExportedEntry } from './read-runs.ts';

async function* stored(...times: number[]): AsyncGenerator<StoredEntry> {
  for (const atMs of times) yield { atMs, number: '1', json: `{"at":${atMs}}` };
}

async function* exported(...times: number[]): AsyncGenerator<ExportedEntry> {
  for await (const entry of stored(...times)) yield { ...entry, file: 'a', line: entry.atMs };
}

async function differences(exports: AsyncIterable<ExportedEntry>, database: AsyncIterable<StoredEntry>) {
  const found: string[] = [];
  for await (const difference of compareEntries(exports, database)) {
    const { kind } = difference;
    const entry = kind === 'new' ? difference.stored : difference.exported;
    found.push(`${kind} ${entry.atMs}${kind === 'missing' && difference.isBeforeAll ? ' before all' : ''}`);
  }
  return found;
}

test.each<[string, number[], number[], string[]]>([
  ['a first export', [], [1, 2], ['new 1', 'new 2']],
  ['nothing new', [1, 2], [1, 2], []],
  ['later entries', [1, 2], [1, 2, 3, 4], ['new 3', 'new 4']],
  ['an entry that was committed late', [1, 3], [1, 2, 3, 4], ['new 2', 'new 4']],
  ['one that was committed before all others', [2, 3], [1, 2, 3], ['new 1']],
  ['a missing entry', [1, 2, 3], [1, 3], ['missing 2']],
  ['the last entry missing', [1, 2, 3], [1, 2], ['missing 3']],
  ['the first entries missing', [1, 2, 3], [3, 4], ['missing 1 before all', 'missing 2 before all', 'new 4']],
  ['all entries missing', [1, 2], [], ['missing 1 before all', 'missing 2 before all']],
  ['all entries missing, and others', [1, 2], [3], ['missing 1 before all', 'missing 2 before all', 'new 3']],
])('finds %s', async (_name, exports, database, expected) => {
  expect(await differences(exported(...exports), stored(...database))).toEqual(expected);
});

async function* altered(): AsyncGenerator<StoredEntry> {
  yield { atMs: 1, number: '1', json: '{"at":1,"login":"other"}' };
}

test('finds an altered entry', async () => {
  expect(await differences(exported(1), altered())).toEqual(['altered 1']);
});

test.each([
  [true, 100, true],
  [true, 99.9, false],
  [false, 100, false],
])('an entry before all others: %s, %d days old, may have been dropped: %s', (isBeforeAll, days, expected) => {
  const nowMs = Date.parse('2026-11-20T10:00:00Z');
  const entry = { atMs: nowMs - days * 86_400_000 - 1, number: '1', json: '{}', file: 'a', line: 1 };
  expect(isPastRetention({ kind: 'missing', exported: entry, isBeforeAll }, 100, nowMs)).toBe(expected);
});

test('names the fields that differ, including one that only one entry has', () => {
  expect(changedFields('{"a":1,"b":{"c":1},"d":1}', '{"a":1,"b":{"c":2},"e":1}')).toEqual(['b', 'd', 'e']);
});
