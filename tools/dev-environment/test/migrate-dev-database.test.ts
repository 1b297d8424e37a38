import { createStore } from '@deedwire/store';
import { expect, test } from 'vitest';
import { CannotStartError } from '../src/cannot-start-error.ts';
import { createMigratedDatabase } from '../src/harness/index.ts';
import { migrateDevDatabase } from '../src/migrate-dev-database.ts';

test('rejects the database of an earlier build, and says how to reset it', async () => {
  const { databaseUrl, ...migrated } = await createMigratedDatabase();
  const database = { directUrl: databaseUrl, howToReset: 'Delete its data.' };
  await expect(migrateDevDatabase(database)).resolves.toBeUndefined();
  const store = createStore({ databaseUrl, applicationName: 'test' });
  await store.query({ name: 'change', text: `update schema_migration set checksum = 'of an earlier build'` }, []);
  await store.close();
  const refused = migrateDevDatabase(database);
  await expect(refused).rejects.toThrow(CannotStartError);
  await expect(refused).rejects.toThrow('Migration 0001-accounts-and-credentials was applied');
  await expect(refused).rejects.toThrow('An earlier build, before the first public release, made the database');
  await expect(refused).rejects.toThrow(/\nDelete its data\.$/);
  await migrated.drop();
});
