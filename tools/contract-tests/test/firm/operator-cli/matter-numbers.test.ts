import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/test/firm/harness';
import { connect } from '@deedwire/testing';
import { expect, test } from 'vitest';

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
