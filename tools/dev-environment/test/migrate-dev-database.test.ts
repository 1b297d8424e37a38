import { testService } from '@deedwire/core/test-service';
import { CannotStartError, migrateDevDatabase } from '@deedwire/development';
import { connect, runOnce } from '@deedwire/testing';
import { expect, test, vi } from 'vitest';
import { createMigratedDatabase } from './harness/index.ts';

const say = vi.fn<(text: string) => void>();

const context = { service: testService, gidNamespace: testService.names.gidNamespace };

test('rejects the database of an earlier build, and says how to reset it', async () => {
  const { databaseUrl, ...migrated } = await createMigratedDatabase();
  const database = { url: databaseUrl, directUrl: databaseUrl, place: {}, howToReset: 'Delete its data.' };
  expect(await migrateDevDatabase(context, database, say)).toMatchObject({ schema: 'public' });
  await runOnce(databaseUrl, `update schema_migration set checksum = 'of an earlier build'`);
  const refused = migrateDevDatabase(context, database, say);
  await expect(refused).rejects.toThrow(CannotStartError);
  await expect(refused).rejects.toThrow(/^Migration \d{4}-\S+ was applied/);
  await expect(refused).rejects.toThrow('An earlier build, before the first public release, made the database');
  await expect(refused).rejects.toThrow(/\nDelete its data\.$/);
  await migrated.drop();
});

test('describes one remedy for a changed migration of the application, with the condition for an empty database', async () => {
  const { databaseUrl, ...migrated } = await createMigratedDatabase();
  const database = { url: databaseUrl, directUrl: databaseUrl, place: {}, howToReset: 'Delete its data.' };
  await runOnce(databaseUrl, `update app_migration set checksum = 'of an earlier form'`);
  await expect(migrateDevDatabase(context, database, say)).rejects.toThrow(
    /Restore the file, .*\. If no other database has .* an empty .*\nDelete its data\.$/,
  );
  await migrated.drop();
});

test('says which session keeps it waiting', async () => {
  const { databaseUrl, ...migrated } = await createMigratedDatabase();
  const holder = await connect(databaseUrl);
  await holder.run(`set application_name = 'psql'; begin; lock table schema_migration`);
  const said: string[] = [];
  await migrateDevDatabase(context, { url: databaseUrl, directUrl: databaseUrl, place: {}, howToReset: '' }, (text) => {
    said.push(text);
    void holder.run('commit');
  });
  expect(said).toEqual([
    expect.stringMatching(
      /^The list of migrations waits for sessions: \d+ \(psql, postgres, idle in transaction, for \d+ s\)\.$/,
    ),
  ]);
  await holder.close();
  await migrated.drop();
});
