import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Example } from '../examples.ts';
import type { InterfaceVersion } from '../interface-contracts.ts';
import { pathFrom } from '../path-to.ts';
import { interfaceUpgradePage } from './interface-upgrade-page.ts';

const unchanged = { isFirst: false, status: 'current', added: [], removed: [], changes: [] };
const contract = {
  name: 'customer',
  names: { service: 'shop', gidNamespace: 'shop', apiKeyPrefix: 'sh', headerPrefix: 'X-Shop', userAgent: 'Shop' },
  history: {
    packageName: '@deedwire/customer-schema',
    records: { '1.0.0': { '2026-11-01': { ...unchanged, isFirst: true } } },
    unreleased: { '2027-02-01': { ...unchanged, isFirst: true } },
  },
} as const;

const pathTo = pathFrom('reference', 'customer/2026-11-01-to-2027-02-01.md');

function example(operation: string, document: string, data: unknown, date = '2026-11-01'): Example {
  const exchange = { result: 'success', variables: {}, responsePath: '', response: { data } } as const;
  return { path: `${date}/${operation}`, kind: 'query', operation, document, exchanges: [exchange], events: [] };
}

function versionOf(version: string, sdl: string, examples: readonly Example[]): InterfaceVersion {
  const manifest = {
    errors: {},
    requestHeaders: {},
    responseHeaders: {},
    limits: {},
    abilities: {},
    costWeights: {},
    costListSizes: {},
    costPageMaximums: {},
    pagination,
  };
  const lifecycle = { version, status: 'current', deprecatedOn: null, sunsetOn: null } as const;
  return { ...lifecycle, schema: buildSchema(sdl), manifest, examples, remark: () => '' };
}

const pagination = { firstMinimum: 1, firstDefault: 20, firstMaximum: 100 };
const stable = [example('rate', '{ rate }', { rate: 1 }), example('day', '{ day }', { day: 'MONDAY' })];
const from = versionOf(
  '2026-11-01',
  'type Query { rate: Int! day: Day name: String old: Int } enum Day { MONDAY TUESDAY }',
  [...stable, example('name', '{ name }', { name: 'Ada' }), example('old', '{ old }', { old: 1 })],
);
const to = versionOf(
  '2027-02-01',
  'type Query { rate: Int! day: Day name: Name new: Int } enum Day { MONDAY } type Name { last: String }',
  [
    ...stable,
    example('name', '{ name { last } }', { name: { last: 'Byron' } }, '2027-02-01'),
    example('new', '{ new }', { new: 1 }, '2027-02-01'),
  ],
);
const difference = (verdict: 'major' | 'minor', coordinate: string) => ({
  verdict,
  coordinate,
  message: 'It changed.',
});

test('shows each affected operation before and after, and names the other ones', () => {
  const differences = [
    difference('major', 'Query.name'),
    difference('major', 'Query.old'),
    difference('major', 'Day.TUESDAY'),
    difference('minor', 'Query.new'),
  ];
  const text = interfaceUpgradePage(contract, from, to, differences, pathTo);
  const sections = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n', 1)[0], section.replaceAll(/\s+/g, ' ')]),
  );
  expect([...sections.keys()]).toEqual([
    'Steps',
    'Breaking changes',
    'Other changes',
    'query day',
    'query name',
    'query old',
    'Unchanged operations',
    'New operations',
  ]);
  expect(sections.get('Steps')).toContain('Install `@deedwire/customer-schema` in its next release,');
  expect(sections.get('Breaking changes')).not.toContain('Query.new');
  expect(sections.get('query day')).toMatch(/Affected by the change of `Day\.TUESDAY`\. The example is valid at both/);
  expect(sections.get('query name')).toMatch(
    /change of `Query\.name`\. At 2026-11-01: .*\{ name \}.*"Ada".*At 2027-02-01: .*\{ name \{ last \} \}.*"Byron"/,
  );
  expect(sections.get('query old')).toMatch(/2027-02-01 does not have this operation\. $/);
  expect(sections.get('Unchanged operations')).toContain('versions: [`rate`](2027-02-01/query-rate.md). ');
  expect(sections.get('New operations')).toContain('[`new`](2027-02-01/query-new.md).');
});

test('states that there are no breaking changes', () => {
  const text = interfaceUpgradePage(contract, { ...from, examples: stable }, { ...to, examples: stable }, [], pathTo);
  expect(text).toContain('## Breaking changes\n\nNone.\n\n## Other changes\n\nNone.\n\n## Unchanged operations');
});
