import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '@deedwire/checks';
import { describe, expect, test } from 'vitest';
import { coordinatesOf } from './coordinates.ts';
import {
  addedIn,
  previewRule,
  readRecords,
  recordOf,
  releasedContracts,
  subjectOf,
  type ReleaseRecords,
} from './release-record.ts';

const sdl = 'versions/2026-11-01.graphql';
const contracts = (text: string, other: Record<string, string> = {}): Map<string, string> =>
  new Map(Object.entries({ [sdl]: text, 'versions/2026-11-01.manifest.json': '{"limits":{}}', ...other }));
const older = 'type Query { a: Int }';
const newer = 'type Query { a: Int  b(c: Int): B } type B { d: Int }';
const minor = (coordinate: string, message: string, file = sdl) => ({
  file,
  rule: 'graphql/fieldAdded',
  verdict: 'minor',
  coordinate,
  message,
});

describe('the record of a release', () => {
  test('is that of a first release for each version that the last release did not have', () => {
    expect(recordOf(new Map(), contracts(older), [])).toEqual({
      '2026-11-01': { isFirst: true, added: [], changes: [] },
    });
    const added = { 'json-schema/a.b/2027-02-01.json': '{}', 'delivery-headers.json': '{}' };
    const versionAdded = minor('a.b/2027-02-01', 'The version was added.', 'versions.json');
    expect(recordOf(contracts(older), contracts(older, added), [versionAdded])).toEqual({
      'a.b/2027-02-01': { isFirst: true, added: [], changes: [] },
      'delivery-headers.json': { isFirst: true, added: [], changes: [] },
    });
  });

  test('lists every added element, also those inside an added type, and the reported changes', () => {
    const changes = [
      minor('B', 'The object type was added.'),
      minor('Query.b', 'The field was added with the type B.'),
      { ...minor('Query.a', 'The description changed.'), verdict: 'patch' },
      minor('B', 'B was exported.', 'api/index.api.json'),
      minor('2026-11-01', 'The status changed from preview to current.', 'versions.json'),
    ];
    expect(recordOf(contracts(older), contracts(newer), changes)).toEqual({
      '2026-11-01': {
        isFirst: false,
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
    expect(recordOf(contracts(older), contracts('type Query { b: Int }'), [change])['2026-11-01']?.changes).toEqual([
      { verdict: 'major', coordinate: 'Query.a', message: 'The field was removed.' },
    ]);
  });

  test('is empty for a version in which only descriptions changed, and missing for an unchanged one', () => {
    const before = contracts(older, { 'json-schema/a.b/2026-11-01.json': '{}' });
    const after = contracts(`"Text." ${older}`, { 'json-schema/a.b/2026-11-01.json': '{}' });
    expect(recordOf(before, after, [{ ...minor('Query', 'The description was added.'), verdict: 'patch' }])).toEqual({
      '2026-11-01': { isFirst: false, added: [], changes: [] },
    });
  });
});

test('an element was added by the last release that added it, otherwise with its version', () => {
  const unchanged = { isFirst: false, added: [], changes: [] };
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

describe.each(['lender-schema', 'partner-schema', 'webhook-events'])('the records of %s', (name) => {
  const folder = join(workspaceRoot, 'packages', name);
  const records = readRecords(folder);

  test('end with the version of the package', () => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(Object.keys(records).at(-1)).toBe(version);
  });

  test('agree with released/', () => {
    const released = [...releasedContracts(folder)].map(([path, text]) => ({
      subject: subjectOf(path),
      coordinates: coordinatesOf(path, text),
    }));
    const subjects = new Set(released.map(({ subject }) => subject));
    expect([...subjects].filter((subject) => addedIn(records, subject, null) === null)).toEqual([]);
    const states = readFileSync(join(folder, 'released/versions.json'), 'utf8');
    const stray = Object.values(records)
      .flatMap((record) => Object.entries(record))
      // An element of a preview can be removed again, and a version can be retired.
      .filter(([subject]) => subjects.has(subject) && !isPreview(states, subject))
      .flatMap(([subject, { added }]) => added.map((coordinate) => [subject, coordinate] as const))
      .filter(([subject, added]) => !released.some((each) => each.subject === subject && each.coordinates.has(added)));
    expect(stray).toEqual([]);
  });
});

/** @param states `versions.json`: states by version, or by event type and version */
function isPreview(states: string, subject: string): boolean {
  let state: unknown = JSON.parse(states);
  for (const key of subject.split('/')) state = Object.entries(state ?? {}).find(([name]) => name === key)?.[1];
  return typeof state === 'object' && state !== null && 'status' in state && state.status === 'preview';
}
