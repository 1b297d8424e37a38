import { testService } from '@deedwire/core/test-service';
import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { groupRolesOf } from '@deedwire/store';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const database = await forFile(createMigratedDatabase());

test('the printed SQL creates a login for each app, with which its commands work', async () => {
  const owner = { DATABASE_URL: database.databaseUrl };
  const text = await callOperator(owner, 'database', 'logins', '--prefix', "o'Hara");
  expect(text).toMatchObject({ exitCode: 0, stderr: '' });
  const superuser = await connect(database.databaseUrl);
  await superuser.run(text.stdout);
  const url = /^-- operator-cli: DATABASE_URL=(.*)$/m.exec(text.stdout)?.[1] ?? missing();
  expect(await callOperator({ DATABASE_URL: url }, 'organization', 'list', '--json')).toEqual({
    exitCode: 0,
    stdout: '[]\n',
    stderr: '',
  });
  expect(
    await superuser.run(
      `select member.rolname as login, role.rolname as role
       from pg_auth_members
       join pg_roles member on member.oid = pg_auth_members.member
       join pg_roles role on role.oid = roleid
       where member.rolname like 'o''Hara%' order by 1`,
    ),
  ).toEqual(
    groupRolesOf(testService)
      .toSorted()
      .map((role) => ({ login: `o'Hara_${role}`, role })),
  );
  const { logins } = JSON.parse((await callOperator(owner, 'database', 'logins', '--json')).stdout);
  expect(logins).toContainEqual({
    app: 'supplier-api',
    login: `${new URL(database.databaseUrl).pathname.slice(1)}_supplier_api`,
    password: expect.stringMatching(/^[\w-]{32}$/),
    sql: expect.stringMatching(
      /^create role ".*_supplier_api" login password '[\w-]{32}' in role supplier_api;\nalter role ".*_supplier_api" set search_path = "public", pg_temp;$/,
    ),
    databaseUrl: expect.stringContaining('_supplier_api:'),
  });
  for (const role of groupRolesOf(testService)) await superuser.run(`drop role "o'Hara_${role}"`);
  await superuser.close();
});

test('prints what to grant to the login of an application', async () => {
  const owner = { DATABASE_URL: database.databaseUrl };
  const { stdout } = await callOperator(owner, 'database', 'logins', '--application', "o'Shop");
  const ofApplication = stdout
    .slice(stdout.indexOf('\n-- the application\n') + 1)
    .trimEnd()
    .split('\n');
  expect(ofApplication).toEqual([
    '-- the application',
    `grant usage on schema public to "o'Shop";`,
    ...['append_event', 'create_account', 'create_api_key', 'create_portal_link', 'gid', 'wake'].map((name) =>
      expect.stringMatching(new RegExp(`^grant execute on routine public\\.${name}\\(.+\\) to "o'Shop";$`)),
    ),
  ]);
  const superuser = await connect(database.databaseUrl);
  await superuser.run(`begin; create role "o'Shop"; ${stdout}; rollback`);
  await superuser.close();
  const withoutOption = await callOperator(owner, 'database', 'logins');
  expect(withoutOption.stdout).not.toContain('application');
});

/** The server of the tests does not flush what it commits. */
const warnings = `\
warning: PostgreSQL has fsync=off: a crash of its machine loses acknowledged changes and can damage the database.
warning: PostgreSQL has full_page_writes=off: a crash of its machine can damage the database, unless its file system writes whole pages.
`;

test('an error names the right that a login lacks, and `database check` the rights that other roles lack', async () => {
  const superuser = await connect(database.databaseUrl);
  const operator = { DATABASE_URL: await database.urlFor('operator') };
  expect(await callOperator({ DATABASE_URL: await database.urlFor('supplier_api') }, 'organization', 'list')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^error: The login \S+ is not in the group role operator of this app; run: grant operator to \S+\n$/,
    ),
  });
  expect(await callOperator(operator, 'database', 'check')).toMatchObject({ exitCode: 0, stderr: warnings });
  await superuser.run('revoke select on account from supplier_api');
  await superuser.run('revoke update (last_used_at) on api_key from supplier_api, customer_api');
  const lacking = [
    ['customer_api', 'update (last_used_at) on api_key'],
    ['supplier_api', 'select on account'],
    ['supplier_api', 'update (last_used_at) on api_key'],
  ];
  const found = await callOperator(operator, 'database', 'check', '--json');
  const statements = lacking.map(([role, right]) => `grant ${right?.replace(' on ', ' on "public".')} to ${role}`);
  expect(JSON.parse(found.stdout).missingRights).toEqual(
    lacking.map(([role, right], index) => ({ role, right, sql: statements[index] })),
  );
  const { stderr, exitCode } = await callOperator(operator, 'database', 'check');
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    warnings +
      `error: Group roles lack rights. Grant them with the login that ran the migrations:\n${statements
        .map((statement) => `  ${statement};\n`)
        .join('')}`,
  );
  await superuser.run('grant execute on function check_homes, maintain_audit_log to public');
  const open = await callOperator(operator, 'database', 'check');
  expect(open).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /Every login may call functions with the rights of the owner\. .*:\n {2}revoke execute on routine public\.check_homes\(bigint\[\]\) from public;\n {2}revoke execute on routine public\.maintain_audit_log\(integer\) from public;\n$/,
    ),
  });
  await superuser.run(
    open.stderr
      .split('\n')
      .filter((line) => line.startsWith('  revoke'))
      .join(''),
  );
  await superuser.run(stderr.slice(warnings.length).split('\n').slice(1).join('\n'));
  expect(await callOperator(operator, 'database', 'check')).toMatchObject({ exitCode: 0, stderr: warnings });
  await superuser.close();
});

test('the check finds what keeps the apps from becoming ready, including in a database that no command can use', async () => {
  const broken = await createMigratedDatabase();
  const superuser = await connect(broken.databaseUrl);
  const env = { DATABASE_URL: await broken.urlFor('operator') };
  const check = async () => {
    const { exitCode, stdout, stderr } = await callOperator(env, 'database', 'check', '--json');
    return { exitCode, found: JSON.parse(stdout), stderr: JSON.parse(stderr).error.message };
  };

  await superuser.run(`insert into schema_migration (name, checksum) values ('9999-drop-needs-9998', '')`);
  const problem =
    'this build is too old for the database, to which 9999-drop-needs-9998 was applied; deploy a later release';
  const message = problem.replace('this', 'This');
  expect(await check()).toEqual({
    exitCode: 1,
    found: {
      problems: [problem],
      missingRights: [],
      sequences: [],
      warnings: [],
      openFunctions: [],
      risks: [],
      sharedAddresses: [],
      growthNotTried: 'the database has other problems',
    },
    stderr: message,
  });
  expect(await callOperator(env, 'database', 'check')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `not tried: whether the database can grow, because the database has other problems.\nerror: ${message}\n`,
  });
  expect(await callOperator(env, 'organization', 'list')).toMatchObject({ exitCode: 1, stderr: `error: ${message}\n` });

  await superuser.run(`delete from schema_migration where name = '9999-drop-needs-9998'`);
  await superuser.run(`
    do $$
    declare
      name text;
    begin
      for name in select relname from pg_class where relname ~ '^webhook_delivery_\\d{8}$' and relkind = 'r' loop
        execute format('drop table %I', name);
      end loop;
    end
    $$`);
  expect(await check()).toMatchObject({
    exitCode: 1,
    found: { problems: [expect.stringMatching(/^The webhook history has no partitions for today\./)] },
  });

  await superuser.run('delete from schema_migration');
  expect(await check()).toMatchObject({
    found: { problems: [expect.stringMatching(/^the database lacks migrations: \d{4}-/)] },
  });
  await superuser.close();
  await broken.drop();
});
