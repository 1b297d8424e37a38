import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStore } from '@deedwire/store';
import { expect, test } from 'vitest';
import { CannotStartError } from '../src/cannot-start-error.ts';
import { devConfig } from '../src/dev-config.ts';
import { openDevDatabase } from '../src/dev-database.ts';
import { openHome } from '../src/home.ts';
import { migrateDevDatabase } from '../src/migrate-dev-database.ts';

test('rejects the data of an earlier build, and names the command that deletes it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
  const database = await openDevDatabase(devConfig.parse({}), await openHome(directory));
  try {
    await migrateDevDatabase(database);
    const store = createStore({ databaseUrl: database.url, applicationName: 'test' });
    await store.query({ name: 'change', text: `update schema_migration set checksum = 'of an earlier build'` }, []);
    await store.close();
    const refused = migrateDevDatabase(database);
    await expect(refused).rejects.toThrow(CannotStartError);
    await expect(refused).rejects.toThrow('Migration 0001-accounts-and-credentials was applied');
    await expect(refused).rejects.toThrow('An earlier build, before the first public release, made the database');
    await expect(refused).rejects.toThrow(`start \`pnpm dev\` again: rm -r '${directory}'`);
  } finally {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  }
});
