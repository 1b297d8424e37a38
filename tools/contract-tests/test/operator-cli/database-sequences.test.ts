import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { connect } from '@deedwire/testing';
import { expect, test } from 'vitest';

test('sequences behind the rows of a copied database are found and advanced, with an entry in the audit log', async () => {
  const copy = await createMigratedDatabase();
  const ofCopy = { DATABASE_URL: await copy.urlFor('operator') };
  const superuser = await connect(copy.databaseUrl);
  const run = (sql: string) => superuser.run(sql);
  const json = async (...commandArguments: string[]) =>
    JSON.parse((await callOperator(ofCopy, ...commandArguments, '--json')).stdout);
  expect(await callOperator(ofCopy, 'database', 'check')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^webhook_queue_position +0 +0 +ok$/m),
  });
  expect(await callOperator(ofCopy, 'database', 'advance-sequences')).toEqual({
    exitCode: 0,
    stdout: 'No sequence is behind\n',
    stderr: '',
  });

  await run(`insert into organization (name) values ('Harbour')`);
  await run(
    `insert into account (interface, organization_id, name) select 'customer', id, 'Keystone' from organization`,
  );
  await run(`insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
    select id, 'customer', '', '', 1000 from account`);
  await run(`insert into webhook_worker (name, leased_until) values ('copied', now() + interval '1 hour')`);
  const behind = { name: 'webhook_queue_position', lastNumber: '0', highestUsed: '1000', isBehind: true };
  expect((await json('database', 'check')).sequences).toContainEqual(behind);
  expect(await callOperator(ofCopy, 'database', 'check')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^webhook_queue_position +0 +1000 +behind$/m),
    stderr: expect.stringContaining(
      'error: Sequences behind the rows of the database: webhook_queue_position. Run `deedwire-operator database ' +
        'advance-sequences`.\n',
    ),
  });
  expect(await callOperator(ofCopy, 'database', 'advance-sequences')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: A worker is running. Stop all workers, or wait until their leases have expired, and try again.\n',
  });
  await run('update webhook_worker set leased_until = now()');
  const advanced = { name: 'webhook_queue_position', before: '0', after: '1000' };
  expect(await json('database', 'advance-sequences')).toEqual({ advanced: [advanced] });
  expect(await callOperator(ofCopy, 'database', 'check')).toMatchObject({
    exitCode: 0,
    stderr: expect.not.stringContaining('error'),
  });
  expect(await run(`select subject, details from audit_entry where action = 'database.advance-sequences'`)).toEqual([
    { subject: 'webhook_queue_position', details: { before: '0', after: '1000' } },
  ]);
  await superuser.close();
  await copy.drop();
});
