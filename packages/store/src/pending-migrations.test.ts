import { expect, test } from 'vitest';
import { MigrationChangedError, MigrationMissingError } from './errors.ts';
import { findPendingMigrations } from './pending-migrations.ts';

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
