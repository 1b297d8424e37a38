import { expect, test } from 'vitest';
import { MigrationChangedError, MigrationMissingError } from '../kernel/errors.ts';
import {
  findNeededMigration,
  findOutdatingMigration,
  findPendingMigrations,
  neededMigration,
} from './pending-migrations.ts';
import { readMigrations } from './read-migrations.ts';

const build = ['0001-a', '0002-b', '0003-c'].map((name) => ({ name, checksum: `of ${name}` }));
const pending = (...names: string[]) =>
  findPendingMigrations(
    build,
    names.map((name) => ({ name, checksum: `of ${name}` })),
  ).map(({ name }) => name);

test.each<[string[], string[]]>([
  [[], ['0001-a', '0002-b', '0003-c']],
  [['0001-a'], ['0002-b', '0003-c']],
  [['0002-b', '0001-a'], ['0003-c']],
  [['0001-a', '0002-b', '0003-c'], []],
  [['0001-a', '0002-b', '0003-c', '0004-of-a-later-build'], []],
])('a database with %j lacks %j', (applied, expected) => {
  expect(pending(...applied)).toEqual(expected);
});

test.each<[string[], string[], string]>([
  [['0002-b'], ['0001-a'], '0002-b'],
  [['0003-c'], ['0001-a', '0002-b'], '0003-c'],
  [['0001-a', '0003-c', '0004-of-a-later-build'], ['0002-b'], '0003-c'],
  [['0001-a', '0004-of-a-later-build'], ['0002-b', '0003-c'], '0004-of-a-later-build'],
])('rejects a database with %j, which lacks %j before %s', (applied, missing, later) => {
  const error = new MigrationMissingError(missing, later);
  expect(error.message).toContain(`lacks ${missing.join(', ')} although ${later}`);
  expect(() => pending(...applied)).toThrow(error);
});

test.each([
  [[{ name: '0002-b', checksum: 'other' }], '0002-b'],
  [[{ name: '0000-before', checksum: 'x' }], '0000-before'],
  [[...build, { name: '0002-between', checksum: 'x' }], '0002-between'],
])('rejects a database with a migration of another form or name: %j', (applied, name) => {
  expect(() => findPendingMigrations(build, applied)).toThrow(new MigrationChangedError(name));
});

const recorded = (...names: string[]) => names.map((name) => ({ name, checksum: `of ${name}` }));
const chain = recorded('0001-a', '0002-b', '0003-c');
const baseline = { name: '0004-all', checksum: 'of 0004-all', isBaseline: true };
/** An earlier build that knows no baseline, this one, a later one, and one with a second baseline. */
const builds = {
  earlier: chain,
  own: [...chain, baseline],
  later: [...chain, baseline, ...recorded('0005-d')],
  last: [...chain, baseline, ...recorded('0005-d'), { ...baseline, name: '0006-all', checksum: 'of 0006-all' }],
};

test.each<[keyof typeof builds, string[], string[]]>([
  ['own', [], ['0004-all']],
  ['own', ['0001-a'], ['0002-b', '0003-c']],
  ['own', ['0001-a', '0002-b', '0003-c'], []],
  ['own', ['0001-a', '0002-b', '0003-c', '0005-d'], []],
  ['own', ['0004-all'], []],
  ['own', ['0004-all', '0005-d'], []],
  ['later', [], ['0004-all', '0005-d']],
  ['later', ['0001-a'], ['0002-b', '0003-c', '0005-d']],
  ['later', ['0001-a', '0002-b', '0003-c'], ['0005-d']],
  ['later', ['0001-a', '0002-b', '0003-c', '0005-d'], []],
  ['later', ['0004-all'], ['0005-d']],
  ['later', ['0004-all', '0005-d'], []],
  ['last', [], ['0006-all']],
  ['last', ['0001-a', '0002-b', '0003-c'], ['0005-d']],
  ['last', ['0004-all'], ['0005-d']],
  ['last', ['0004-all', '0005-d'], []],
  ['last', ['0006-all'], []],
  ['earlier', ['0001-a', '0002-b', '0003-c', '0005-d'], []],
])('in the %s build, a database with %j lacks %j', (of, applied, expected) => {
  expect(findPendingMigrations(builds[of], recorded(...applied)).map(({ name }) => name)).toEqual(expected);
});

test.each<[keyof typeof builds, string[], Error]>([
  ['earlier', ['0004-all'], new MigrationMissingError('all', '0004-all')],
  ['earlier', ['0004-all', '0005-d'], new MigrationMissingError('all', '0004-all')],
  ['own', ['0006-all'], new MigrationMissingError('all', '0006-all')],
  ['own', ['0001-a', '0005-d'], new MigrationMissingError(['0002-b', '0003-c'], '0005-d')],
  ['later', ['0001-a', '0002-b', '0005-d'], new MigrationMissingError(['0003-c'], '0005-d')],
  ['last', ['0004-all', '0007-e'], new MigrationMissingError(['0005-d'], '0007-e')],
  ['later', ['0005-d'], new MigrationMissingError(['0001-a', '0002-b', '0003-c'], '0005-d')],
  // No build records these together.
  ['own', ['0001-a', '0002-b', '0003-c', '0004-all'], new MigrationChangedError('0004-all')],
  ['own', ['0003-c', '0004-all'], new MigrationChangedError('0004-all')],
  ['last', ['0004-all', '0005-d', '0006-all'], new MigrationChangedError('0006-all')],
])('the %s build rejects a database with %j', (of, applied, error) => {
  expect(() => findPendingMigrations(builds[of], recorded(...applied))).toThrow(error);
});

test('rejects a baseline of another form', () => {
  expect(() => findPendingMigrations(builds.later, [{ name: '0004-all', checksum: 'other' }])).toThrow(
    new MigrationChangedError('0004-all'),
  );
});

test.each<[string[], string | null]>([
  [['0004-all', '0005-d'], null],
  [['0004-all', '0005-drop-needs-0004'], null],
  [['0004-all', '0006-drop-needs-0005'], '0006-drop-needs-0005'],
  [['0001-a', '0002-b', '0003-c', '0006-drop-needs-0005'], '0006-drop-needs-0005'],
])(
  'with %j, the first migration after which the build with the baseline no longer works is %j',
  (applied, expected) => {
    expect(findOutdatingMigration(builds.own, recorded(...applied))).toBe(expected);
  },
);

test.each<[string[], string | null]>([
  [['0001-a', '0002-b'], null],
  [['0001-a', '0005-drop-needs-0004', '0007-drop-needs-0002'], '0004'],
  [['0003-all'], '0003'],
  [['0003-all', '0005-drop-needs-0002'], '0003'],
  [['0003-all', '0005-drop-needs-0004'], '0004'],
])('a build must have the migration that a database with %j needs: %j', (applied, expected) => {
  expect(findNeededMigration([{ name: '0003-all', checksum: '', isBaseline: true }], applied)).toBe(expected);
});

test('goes on from the form of a migration that was on the main branch between two releases', async () => {
  const migrations = await readMigrations();
  const checksum = 'd1340954b2ea3790a1e81d2e82ccbc37072a24395db583d95129181d70c6cc15';
  const applied = migrations
    .filter(({ name }) => name < '0051')
    .map((migration) => (migration.name.startsWith('0050') ? { ...migration, checksum } : migration));
  const named = findPendingMigrations(migrations, applied).map(({ name }) => name);
  expect(named).toContain('0056-events-that-wait-of-the-own-interface');
});

test.each<[string[], string | null]>([
  [['0004-later'], null],
  [['0004-later-needs-0003'], null],
  [['0004-later', '0005-drop-needs-0003', '0006-later'], null],
  [['0004-later', '0005-drop-needs-0004'], '0005-drop-needs-0004'],
  [['0007-drop-needs-0005', '0004-later', '0005-drop-needs-0004'], '0005-drop-needs-0004'],
])('with %j, the first migration after which the build no longer works is %j', (later, expected) => {
  const applied = [...build, ...later.map((name) => ({ name, checksum: 'x' }))];
  expect(findOutdatingMigration(build, applied)).toBe(expected);
});

test('the migrations of this build have their own number, and need earlier ones only', async () => {
  const names = (await readMigrations()).map(({ name }) => name);
  expect(names.filter((name) => !/^\d{4}(-[a-z0-9]+)+$/.test(name))).toEqual([]);
  const numbers = names.map((name) => name.slice(0, 4));
  expect(numbers).toEqual([...new Set(numbers)]);
  expect(
    names.filter(
      (name, index) => !numbers.slice(0, index).includes(neededMigration(name) ?? numbers[0] ?? '') && index > 0,
    ),
  ).toEqual([]);
});
