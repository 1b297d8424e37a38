import { callOperator } from '@deedwire/dev-environment/harness';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

// The prefix of a new database by default would be taken from others of the server.
const inPublic = { DATABASE_SCHEMA: 'public' };

test('refuses other commands until the migrations are applied, and applies them once', async () => {
  const { databaseUrl } = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
  const ofEmpty = { ...inPublic, DATABASE_URL: databaseUrl };
  expect(await callOperator(ofEmpty, 'organization', 'create', '--name', 'Harbour')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^error: The database lacks migrations: \d{4}-[^;]+; run: deedwire-operator database migrate\n$/,
    ),
  });
  expect((await callOperator(ofEmpty, 'database', 'migrate')).stdout).toMatch(
    /^The tables are in the schema public, with roles without a prefix\n[^]*\nAdded the interface customer\nAdded the interface supplier\nApplied 0001-orders of the application\n$/,
  );
  const ofMigrated = { DATABASE_URL: databaseUrl };
  expect((await callOperator(ofMigrated, 'database', 'migrate')).stdout).toBe('Nothing to apply\n');
  const { stdout } = await callOperator(ofMigrated, 'database', 'logins');
  expect(stdout.match(/^alter role "\w+" set search_path = "public", pg_temp;$/gm)).toHaveLength(4);
});

test('migrate gives a new database its cell, and rejects another later', async () => {
  const { databaseUrl } = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
  const migrate = (cell: string) =>
    callOperator({ ...inPublic, DATABASE_URL: databaseUrl }, 'database', 'migrate', '--cell', cell);
  expect(await migrate('1023')).toMatchObject({ exitCode: 0 });
  expect(await migrate('1023')).toMatchObject({ exitCode: 0, stdout: 'Nothing to apply\n' });
  expect(await migrate('0')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: The database has cell 1023, not 0\./),
  });
});
