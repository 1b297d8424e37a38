import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrationProblems, migrationsProblems } from './migration-rights.ts';
import { workspaceRoot } from './run.ts';

const folder = join(workspaceRoot, 'packages/store/migrations');
const files = globSync('*.sql', { cwd: folder }).toSorted();

test('every later migration works in a database without roles, and lets no login call its functions', () => {
  expect(migrationsProblems(folder, files)).toEqual([]);
  expect(files.at(-1)).toMatch(/^01/);
});

const role = (name: string) => [`it names the role ${name}; grant by for_app(), shared_right and shared_policy`];
const open = (name: string) => [`every login may call ${name}(); add: revoke execute on function ${name} from public`];

describe('a migration that names a role', () => {
  test.each([
    ['grant select on t to operator;', 'operator'],
    [
      'grant select on t to public;\ngrant select, insert (a)\non t to "webhook_worker" with grant option;',
      '"webhook_worker"',
    ],
    ['revoke all on t from customer_api;', 'customer_api'],
    ['create policy p on t for select to operator using (true);', 'operator'],
    ['alter policy p on t to operator;', 'operator'],
    ['create role spare_api nologin;', 'spare_api'],
    ['alter table t owner to webhook_worker;', 'webhook_worker'],
    ['set role operator;', 'operator'],
    ['drop owned by operator;', 'operator'],
    [
      `do $$ begin if to_regrole('operator') is not null then grant select on t to operator; end if; end $$;`,
      'operator',
    ],
    [`do $$ begin execute format('grant select on t to %I', 'operator'); end $$;`, '%I'],
    [`select for_app('operator-cli', 'grant select on t to operator');`, 'operator'],
  ])('is refused: %s', (sql, name) => {
    expect(migrationProblems(sql)).toEqual(role(name));
  });

  test('is refused for each of several', () => {
    expect(migrationProblems('grant select on t to public, operator, worker;')).toEqual([
      ...role('operator'),
      ...role('worker'),
    ]);
  });

  test('is refused if it grants to the roles of interfaces that only the cluster has', () => {
    expect(migrationProblems('select grant_shared_rights(name) from interface;')).toEqual([
      "it calls grant_shared_rights() for every interface; add: where has_role(name || '-api')",
    ]);
  });

  test.each([
    "select grant_shared_rights(name) from interface where has_role(name || '-api');",
    `select for_app('operator-cli', 'grant select on t to {role}; create policy {role} on t to {role} using (true)');`,
    `do $$ declare own regrole := to_regrole(role_name('x')); begin execute format('grant select on t to %s', own); end $$;`,
    'create policy p on t using (true);\n-- grant select on t to operator;',
    'grant usage on type t to public;',
  ])('is accepted if the role is found when it runs: %s', (sql) => {
    expect(migrationProblems(sql)).toEqual([]);
  });
});

describe('a migration that creates a function', () => {
  test.each([
    ['create function f() returns int return 1;', 'f'],
    ['create procedure p(a int) language sql as $$select 1$$;', 'p'],
    [`do $d$ begin execute replace('create or replace function {schema}.g() …', '{schema}', 's'); end $d$;`, 'g'],
    ['create function f(a int) returns int return 1; revoke execute on function f_other, g from public;', 'f'],
    ['create function f() returns int return 1; grant execute on function f to public;', 'f'],
  ])('is refused unless it revokes what every login may do: %s', (sql, name) => {
    expect(migrationProblems(sql)).toEqual(open(name));
  });

  test.each([
    'create function f() returns int return 1; revoke execute on function f from public;',
    'create function f(a int) returns int return 1; create function g() returns int return 1;\nrevoke all on function f(int), g\nfrom public;',
    'create procedure s.p() language sql as $$select 1$$; revoke execute on procedure p from public;',
    'create function f() returns int return 1; revoke execute on all routines in schema s from public;',
  ])('is accepted with the revocation: %s', (sql) => {
    expect(migrationProblems(sql)).toEqual([]);
  });

  test('may replace a function of an earlier one, which keeps its rights, and not create it again', () => {
    const earlier = ['create function f() returns int return 1;'];
    expect(migrationProblems('create or replace function f() returns int return 2;', earlier)).toEqual([]);
    expect(migrationProblems('drop function f; create function f() returns int return 2;', earlier)).toEqual(open('f'));
  });
});
