import { createTestDatabase } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { applyMigrations, migrate, readMigrations } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const database = await forFile(createTestDatabase({ template: 'empty', prepare: async () => {} }));
const owner = await forFile(connect(database.databaseUrl));

test('between a migration and the first registration, an erasure finds what the application registers', async () => {
  const migrations = await readMigrations();
  await applyMigrations(
    database.databaseUrl,
    migrations.filter(({ name }) => name < '0100'),
    {},
  );
  // A database that has none of its accounts is of another service.
  await owner.run(
    `with organization as (insert into organization (name) values ('Test') returning id)
     insert into account (interface, organization_id, name) select i.name, o.id, '' from interface i, organization o`,
  );
  await applyMigrations(database.databaseUrl, migrations, {});
  const registered = async (table: string, condition = 'true') =>
    (await owner.run(`select t::text as row from ${table} t where ${condition} order by 1`)).map(({ row }) => row);
  const ofPersons = () => Promise.all([registered('person_table'), registered('event_type', `persons <> '{}'`)]);
  const ofMigrations = await ofPersons();
  await migrate(database.databaseUrl, firm);
  expect(await ofPersons()).toEqual(ofMigrations);
  // The order of the elements is that of the first registration.
  await owner.run('delete from person_table; delete from event_type');
  await migrate(database.databaseUrl, firm);
  await migrate(database.databaseUrl, firm);
  expect(await ofPersons()).toEqual(ofMigrations);
});
