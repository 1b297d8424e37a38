import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployedInterfaces, interfaceNames, interfaces, roleOf } from '@deedwire/domain';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** The names in paths, of which `@` in the pattern is one. */
function namesIn(pattern: string): string[] {
  const [before = '', after = ''] = pattern.split('@');
  return globSync(pattern.replace('@', '*'), { cwd: root })
    .map((path) => path.slice(before.length, path.length - after.length))
    .toSorted();
}

const sorted = interfaceNames.toSorted();

test.each(['apps/@-api/package.json', 'packages/@-schema/package.json'])(
  '%s exists for each interface on the list, and for no other',
  (pattern) => {
    expect(namesIn(pattern)).toEqual(sorted);
  },
);

test.each(['deploy/kubernetes/apps/@-api.yaml', 'deploy/systemd/deedwire-@-api.service'])(
  '%s exists for each interface that is deployed, and for no other',
  (pattern) => {
    expect(namesIn(pattern)).toEqual(deployedInterfaces.toSorted());
  },
);

test('rights.json has a role for each interface on the list, and for no other', () => {
  const roles = Object.keys(readJson('packages/store/migrations/rights.json')).filter((role) => role.endsWith('_api'));
  expect(roles.toSorted()).toEqual(interfaceNames.map(roleOf).toSorted());
});

const eventTypes: [type: string, { interfaces: string[] }][] = Object.entries(
  readJson('packages/webhook-events/event-types.json'),
);

test.each(eventTypes)('%s is an event of interfaces on the list only', (_, { interfaces: named }) => {
  expect(named.filter((name) => !sorted.some((known) => known === name))).toEqual([]);
});

test.each(eventTypes.filter(([type]) => /^webhook[._]/.test(type)))(
  '%s is an event of every interface on the list',
  (_, { interfaces: named }) => {
    expect(named.toSorted()).toEqual(sorted);
  },
);

test('names, types, paths and ports of interfaces differ', () => {
  const all = Object.values(interfaces);
  const values = all.flatMap(({ accountType, path, port, adminPort }) => [accountType, path, port, adminPort]);
  expect(new Set(values).size).toBe(values.length);
  expect(interfaceNames.filter((name) => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
});
