import { expect, test } from 'vitest';
import { changelogPage } from './changelog-page.ts';

const unchanged = { isFirst: false, status: 'current', added: [], removed: [], changes: [] };
const minor = (coordinate: string, message: string) => ({ verdict: 'minor', coordinate, message });
const records = {
  '1.0.0': { 'a.b/2026-11-01': { ...unchanged, isFirst: true } },
  '1.0.1': { 'a.b/2026-11-01': unchanged },
  '1.1.0': { 'a.b/2027-02-01': { ...unchanged, isFirst: true } },
  '1.2.0': {
    'a.b/2026-11-01': {
      ...unchanged,
      changes: [
        minor('a.b/2026-11-01', 'The status changed from current to deprecated.'),
        minor('$.data.name', 'The property was added.'),
      ],
    },
  },
};
const options = { of: 'a.b', subject: 'a.b/2026-11-01', root: '../..', pathTo: (path: string) => path };

test('lists the changes of one version by release, newest first', () => {
  const unreleased = { 'a.b/2026-11-01': { ...unchanged, changes: [minor('$.data.id', 'The type changed.')] } };
  const text = changelogPage({ ...options, history: { packageName: 'events', records, unreleased } });
  expect(text.slice(text.indexOf('## '))).toBe(`## Next release

| element   | breaking | change |
| --------- | -------- | --- |
| \`data.id\` | no       | The type changed. |

## 1.2.0

| element     | breaking | change |
| ----------- | -------- | --- |
| \`version\`   | no       | The status changed from current to deprecated. |
| \`data.name\` | no       | The property was added. |

## 1.0.1

Only descriptions changed.

## 1.0.0

The version was added.
`);
});

test('does not mention the next release while it changes nothing in the version', () => {
  const unreleased = { 'a.b/2027-02-01': unchanged };
  expect(changelogPage({ ...options, history: { packageName: 'events', records, unreleased } })).not.toContain('Next');
});
