import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/firm-harness';
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
    `insert into account (interface, organization_id, name) select 'partner', id, 'Keystone' from organization`,
  );
  await run(`insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
    select id, 'partner', '', '', 1000 from account`);
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

test('matter numbers that a restore has lost are left out', async () => {
  const restored = await createMigratedDatabase();
  const superuser = await connect(restored.databaseUrl);
  const env = { DATABASE_URL: await restored.urlFor('operator') };
  const advance = (number: string) => callOperator(env, 'database', 'advance-sequences', '--matter-number', number);
  await superuser.run(`select nextval('matter_number') from generate_series(1, 30)`);
  expect(await advance('4711')).toEqual({
    exitCode: 0,
    stdout: 'Advanced matter_number from 30 to 4711\n',
    stderr: '',
  });
  // A number that was drawn already changes nothing.
  for (const number of ['4711', '12', '0'])
    expect(await advance(number)).toEqual({ exitCode: 0, stdout: 'No sequence is behind\n', stderr: '' });
  expect(await advance('1004712')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: The last matter number is 4711, and 1004712 is more than 1,000,000 beyond it. Check the number.\n',
  });
  for (const number of ['-1', 'M-2026-004711', '1e6'])
    expect(await advance(number)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('whole number') });
  expect(await superuser.run(`select nextval('matter_number')::int as number`)).toEqual([{ number: 4712 }]);
  // As many as it leaves out at most.
  expect(await advance('1004712')).toMatchObject({ stdout: 'Advanced matter_number from 4712 to 1004712\n' });
  const action = 'database.advance-sequences';
  expect(await superuser.run('select details from audit_entry where action = $1 order by number', [action])).toEqual([
    { details: { before: '30', after: '4711' } },
    { details: { before: '4712', after: '1004712' } },
  ]);
  await superuser.close();
  await restored.drop();
});
