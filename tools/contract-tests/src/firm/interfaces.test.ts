import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { roleOf } from '@deedwire/core';
import { firm, interfaceNames } from '@deedwire/firm';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Of an interface: `vendor-api`, `deedwire_vendor_api`, a role with the prefix, but no header. */
const appOrRole = new RegExp(
  String.raw`(?<![\w-])(?!X-)(?:deedwire[-_]|${firm.names.service}_)?([a-z]+(?:[-_][a-z]+)*?)[-_]api(?!\w)`,
  'gi',
);
/** In SQL. */
const comparison = /\binterface = '([a-z-]+)'/g;

/** The names in paths, of which `@` in the pattern is one. */
function namesIn(pattern: string): string[] {
  const [before = '', after = ''] = pattern.split('@');
  return globSync(pattern.replace('@', '*'), { cwd: root })
    .map((path) => path.slice(before.length, path.length - after.length))
    .toSorted();
}

const sorted = interfaceNames.toSorted();

test.each([
  'apps/@-api/package.json',
  'deploy/kubernetes/apps/@-api.yaml',
  'deploy/systemd/deedwire-@-api.service',
  'packages/@-schema/package.json',
])('%s exists for each interface of the service, and for no other', (pattern) => {
  expect(namesIn(pattern)).toEqual(sorted);
});

test('the rights that the firm grants name a role for each interface of the service, and no other', () => {
  const roles = Object.keys(readJson('packages/firm/migrations/rights.json')).filter((role) => role.endsWith('_api'));
  expect(roles.toSorted()).toEqual(interfaceNames.map(roleOf).toSorted());
});

const eventTypes: [type: string, { interfaces: string[] }][] = Object.entries(
  readJson('packages/webhook-events/event-types.json'),
);

test.each(eventTypes)('%s is an event of interfaces of the service only', (_, { interfaces: named }) => {
  expect(named.filter((name) => !sorted.some((known) => known === name))).toEqual([]);
});

test.each(eventTypes.filter(([type]) => /^webhook[._]/.test(type)))(
  '%s is an event of every interface of the service',
  (_, { interfaces: named }) => {
    expect(named.toSorted()).toEqual(sorted);
  },
);

test.each([
  ['deploy', appOrRole],
  ['docs/*.md', appOrRole],
  ['docs/operations', appOrRole],
  ['packages/store/migrations', appOrRole],
  ['packages/store/migrations', comparison],
  ['packages/*/src', comparison],
])('%s names interfaces of the service only', (pattern, form) => {
  const found = globSync([pattern, `${pattern}/**/*`], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name: file }) => {
      const text = readFileSync(join(parentPath, file), 'utf8');
      return Array.from(text.matchAll(form), ([, name = '']) => `${file}: ${name.replaceAll('_', '-')}`);
    });
  expect(found.length).toBeGreaterThan(1);
  expect(found.filter((each) => !sorted.some((name) => each.endsWith(`: ${name}`)))).toEqual([]);
});
