import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workspaceRoot } from '@deedwire/checks';
import { describe, expect, test } from 'vitest';
import {
  addedIn,
  previewRule,
  readContracts,
  readRecords,
  recordOf,
  releasedStatus,
  unreleasedRecord,
  type RecordedContracts,
  type ReleaseRecords,
} from './release-record.ts';

const sdl = 'versions/2026-11-01.graphql';
const states = '{ "2026-11-01": { "status": "current" }, "a.b": { "2027-02-01": { "status": "preview" } } }';
const contracts = (text: string, other: Record<string, string> = {}): RecordedContracts => ({
  texts: new Map(Object.entries({ [sdl]: text, 'versions/2026-11-01.manifest.json': '{"limits":{}}', ...other })),
  states,
});
const older = 'type Query { a: Int }';
const newer = 'type Query { a: Int  b(c: Int): B } type B { d: Int }';
const unchanged = { isFirst: false, status: 'current', added: [], removed: [], changes: [] };
/** The records after a release of these contracts. */
const released = (of: RecordedContracts): ReleaseRecords => ({ '1.0.0': recordOf({}, of, []) });
const minor = (coordinate: string, message: string, file = sdl) => ({
  file,
  rule: 'graphql/fieldAdded',
  verdict: 'minor',
  coordinate,
  message,
});

describe('the record of a release', () => {
  test('is that of a first release for each version that the latest release did not have', () => {
    const first = { ...unchanged, isFirst: true, added: ['Query', 'Query.a'] };
    expect(recordOf({}, contracts(older), [])).toEqual({ '2026-11-01': first });
    const added = {
      'json-schema/a.b/2027-02-01.json': '{ "properties": { "id": {} } }',
      'delivery-headers.json': '{ "headers": { "X-Id": {} } }',
    };
    const versionAdded = minor('a.b/2027-02-01', 'The version was added.', 'versions.json');
    expect(recordOf(released(contracts(older)), contracts(older, added), [versionAdded])).toEqual({
      'a.b/2027-02-01': { ...first, status: 'preview', added: ['$.id'] },
      'delivery-headers.json': { ...first, status: null, added: ['/headers/X-Id'] },
    });
  });

  test('lists every added element, including those inside an added type, and the reported changes', () => {
    const changes = [
      minor('B', 'The object type was added.'),
      minor('Query.b', 'The field was added with the type B.'),
      { ...minor('Query.a', 'The description changed.'), verdict: 'patch' },
      minor('B', 'B was exported.', 'api/index.api.json'),
      minor('2026-11-01', 'The status changed from preview to current.', 'versions.json'),
    ];
    expect(recordOf(released(contracts(older)), contracts(newer), changes)).toEqual({
      '2026-11-01': {
        ...unchanged,
        added: ['B', 'B.d', 'Query.b', 'Query.b(c:)'],
        changes: [
          { verdict: 'minor', coordinate: 'B', message: 'The object type was added.' },
          { verdict: 'minor', coordinate: 'Query.b', message: 'The field was added with the type B.' },
          { verdict: 'minor', coordinate: '2026-11-01', message: 'The status changed from preview to current.' },
        ],
      },
    });
  });

  test('marks a breaking change of a preview as breaking', () => {
    const { rules }: { rules: string[] } = JSON.parse(
      readFileSync(join(workspaceRoot, 'packages/contract-check/rule-ids.json'), 'utf8'),
    );
    expect(rules).toContain(previewRule);
    const change = { ...minor('Query.a', 'The field was removed.'), rule: previewRule };
    const record = recordOf(released(contracts(older)), contracts('type Query { b: Int }'), [change])['2026-11-01'];
    expect(record?.changes).toEqual([{ verdict: 'major', coordinate: 'Query.a', message: 'The field was removed.' }]);
    expect(record).toMatchObject({ added: ['Query.b'], removed: ['Query.a'] });
  });

  test('is empty for a version in which only descriptions changed, and missing for an unchanged one', () => {
    const before = contracts(older, { 'json-schema/a.b/2026-11-01.json': '{}' });
    const after = contracts(`"Text." ${older}`, { 'json-schema/a.b/2026-11-01.json': '{}' });
    const described = { ...minor('Query', 'The description was added.'), verdict: 'patch' };
    expect(recordOf(released(before), after, [described])).toEqual({ '2026-11-01': unchanged });
    expect(recordOf(released(before), before, [])).toEqual({});
  });

  test('contains a version that is removed', () => {
    const removed = minor('a.b/2026-11-01', 'The version was removed.', 'versions.json');
    const before = contracts(older, { 'json-schema/a.b/2026-11-01.json': '{}' });
    expect(recordOf(released(before), contracts(older), [removed])['a.b/2026-11-01']).toMatchObject({
      status: null,
      changes: [{ message: 'The version was removed.' }],
    });
  });
});

test('what is not released is known from the records: elements, versions and the status', () => {
  const records = released(contracts(older, { 'json-schema/a.b/2027-02-01.json': '{}' }));
  expect(unreleasedRecord(records, contracts(older, { 'json-schema/a.b/2027-02-01.json': '{}' }))).toEqual({});
  const next = contracts('type Query { b(c: Int): B } type B { d: Int }', {
    'json-schema/a.b/2027-02-01.json': '{}',
    'json-schema/a.c/2027-02-01.json': '{}',
  });
  const current = { ...next, states: states.replace('preview', 'current') };
  expect(unreleasedRecord(records, current)).toEqual({
    '2026-11-01': {
      ...unchanged,
      added: ['B', 'B.d', 'Query.b', 'Query.b(c:)'],
      removed: ['Query.a'],
      changes: [
        { verdict: 'major', coordinate: 'Query.a', message: 'Removed.' },
        { verdict: 'minor', coordinate: 'B', message: 'Added.' },
        { verdict: 'minor', coordinate: 'Query.b', message: 'Added.' },
      ],
    },
    'a.b/2027-02-01': {
      ...unchanged,
      changes: [
        { verdict: 'minor', coordinate: 'a.b/2027-02-01', message: 'The status changed from preview to current.' },
      ],
    },
    'a.c/2027-02-01': { ...unchanged, isFirst: true, status: null },
  });
  expect(releasedStatus(records, 'a.b/2027-02-01')).toBe('preview');
  expect(releasedStatus(records, 'a.c/2027-02-01')).toBeNull();
});

test('an element was added by the latest release that added it, otherwise with its version', () => {
  const records: ReleaseRecords = {
    '1.0.0': { '2026-11-01': { ...unchanged, isFirst: true } },
    '1.1.0': { '2026-11-01': { ...unchanged, added: ['Query.b'] } },
    '1.2.0': { '2027-02-01': { ...unchanged, isFirst: true } },
    '1.10.0': { '2026-11-01': { ...unchanged, added: ['Query.b'] } },
  };
  expect(addedIn(records, '2026-11-01', 'Query.a')).toBe('1.0.0');
  expect(addedIn(records, '2026-11-01', 'Query.b')).toBe('1.10.0');
  expect(addedIn(records, '2027-02-01', 'Query.b')).toBe('1.2.0');
  expect(addedIn(records, '2027-02-01', null)).toBe('1.2.0');
  expect(addedIn(records, '2028-01-01', null)).toBeNull();
});

describe.each(globSync('packages/*/releases.json', { cwd: workspaceRoot }))('%s', (path) => {
  const folder = dirname(join(workspaceRoot, path));
  const records = readRecords(folder);

  test('ends with the version of the package', () => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(Object.keys(records).at(-1)).toBe(version);
  });

  test('contains no element that a released version has lost', () => {
    const unreleased = Object.entries(unreleasedRecord(records, readContracts(folder)));
    const lost = unreleased.filter(([subject]) => releasedStatus(records, subject) !== 'preview');
    expect(lost.flatMap(([, { removed }]) => removed)).toEqual([]);
    const versions = Object.keys(recordOf({}, readContracts(folder), [])).filter((subject) => subject.includes('-'));
    expect(versions.filter((subject) => addedIn(records, subject, null) !== null)).not.toEqual([]);
  });
});
