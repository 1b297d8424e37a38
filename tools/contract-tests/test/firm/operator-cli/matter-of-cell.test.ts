import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/test/firm/harness';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

test('a matter of a cell that is not 0 has the number of the cell in its reference', async () => {
  const database = await forTest(createMigratedDatabase());
  const owner = await forTest(connect(database.databaseUrl));
  const env = { DATABASE_URL: await database.urlFor('operator') };
  await owner.run(
    `insert into cell_split (from_cell, to_cell, organization_ids, standbys, freeze_lsn) values (0, 5, '{}', '{}', '0/1')`,
  );
  await owner.run('select take_cell_number()');
  await owner.run(`insert into organization (name) values ('Harbour')`);
  await owner.run(
    `insert into account (interface, organization_id, name) select 'partner', id, 'Harbour' from organization`,
  );
  await owner.run(`insert into referral (account_id, client_name) select id, 'Ada' from account`);
  const [{ id } = {}] = await owner.run(`select 'gid://service/Referral/' || id as id from referral`);
  expect(await callOperator(env, 'referral', 'convert', String(id))).toMatchObject({ exitCode: 0 });
  expect(await owner.run('select reference, (id >> 12) & 1023 as cell from matter')).toEqual([
    { reference: expect.stringMatching(/^M5-\d{4}-000001$/), cell: '5' },
  ]);
});
