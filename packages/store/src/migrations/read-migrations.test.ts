import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readMigrations } from './read-migrations.ts';

async function readOne(sql: string) {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, '0007-all.sql'), sql);
  const [migration] = await readMigrations(pathToFileURL(`${folder}/`));
  return migration;
}

test.each([
  ['-- replaces all before it\nselect 1', { isBaseline: true }],
  ['-- replaces 0001-first of the platform\nselect 1', { replacedOfPlatform: '0001-first' }],
  ['-- What replaces the other.\nselect 1', {}],
])('reads what a migration with the text %j replaces', async (sql, expected) => {
  const { checksum, ...read } = (await readOne(sql)) ?? {};
  expect(checksum).toMatch(/^[0-9a-f]{64}$/);
  expect(read).toEqual({ name: '0007-all', sql, ...expected });
});

test.each(['-- replaces all', '-- replaces 0001-first', '-- replaces: 0001-first of the platform\n'])(
  'rejects the first line %j',
  async (sql) => {
    await expect(readOne(sql)).rejects.toThrow(
      'The first line of the migration 0007-all must be "-- replaces all before it" or "-- replaces <name> of the platform".',
    );
  },
);
