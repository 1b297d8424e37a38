import { expect, test } from 'vitest';
import { fileExists, readText } from '../workspace-files.ts';
import { areFixturesFrozen, derivedFixturesOf } from './derived-fixtures.ts';
import { readEventTypes } from './event-types.ts';
import { payloadFiles } from './payloads.ts';

const eventTypes = await readEventTypes();
const payloads = eventTypes.flatMap(({ type, versions }) => versions.map((version) => ({ type, ...version })));

test('the types and the parser of receivers leave out a retired version', async () => {
  const changed = eventTypes.map((eventType) => ({
    ...eventType,
    versions: eventType.versions.map((version) =>
      eventType.type === 'referral.converted' && version.version === '2026-11-01'
        ? { ...version, status: 'retired' as const }
        : version,
    ),
  }));
  const files = await payloadFiles(changed);
  for (const path of ['src/generated/webhook-event.ts', 'src/generated/validators.ts']) {
    expect(files.get(path)).not.toContain('ReferralConverted20261101');
    expect(files.get(path)).toContain('ReferralConverted20270201');
  }
  expect(files.get('src/generated/validators.ts')).not.toContain('referral.converted/2026-11-01');
});

test.each(payloads)(
  'the fixtures of $type at $version are those that its schema and its typical body imply',
  (payload) => {
    const { type, version } = payload;
    const { fixtures, stale } = derivedFixturesOf(type, payload);
    expect(stale).toEqual([]);
    const present = [...fixtures].filter(([path]) => !areFixturesFrozen(type, version) || fileExists(path));
    expect(present.length).toBeGreaterThan(15);
    for (const [path, body] of present) expect({ path, body: JSON.parse(readText(path)) }).toEqual({ path, body });
  },
);
