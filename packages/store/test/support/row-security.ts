import { interfaceNamesOf, roleOf } from '@deedwire/core';
import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { Client } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  hasInterface,
  type Operation,
  operations,
  reachesRow as reachesRowOf,
  readTables,
  statementFor,
  type Table,
} from '../../src/checks/reach-rows.ts';
import { findUnprotectedTables, type GroupRole, groupRolesOf } from '../../src/index.ts';
import type { RowFixture } from './row-fixtures.ts';
import { readRolePrefix, type TestedService } from './tested-services.ts';

/** The history, what refers to it, and its counts. No foreign key leads into a partition, and only the worker writes these tables. */
const withoutForeignKey = [
  'webhook_attempt',
  'webhook_delivery',
  'webhook_exchange',
  'webhook_failed_delivery',
  'webhook_hour_statistics',
  'webhook_payload',
  'webhook_pending_delivery',
];

/** What a policy refuses although the role has the right. */
const refusedByPolicy = new Set(['webhook_worker update webhook_delivery', 'operator insert audit_entry']);

/**
 * What an interface may call that runs with the rights of the owner: a call with the account $1 of another interface, which must do the same
 * as with one that does not exist. Null: it takes neither an account nor what leads to one.
 */
const calls: Readonly<Record<string, ((name: string, other: string) => string) | null>> = {
  check_homes: () => 'check_homes(array[$1::bigint])',
  // packages/store/test/contact-emails.test.ts has tokens of another interface.
  confirm_contact_email: null,
  end_process: null,
  // packages/store/test/api-keys.test.ts has keys of another interface.
  issue_api_key: () => `issue_api_key(null, $1, $1, null, null, 'abcdefghijkl', sha256(''), 'x', '{READ}', null, null)`,
  record_use: (name, other) => `record_use('${name}-api', gen_random_uuid(), null, false, false, '',
    array['portal_${other}_' || $1], '{2026-11-01}', '{a}', '{1}')`,
  register_process: null,
  revoke_api_key: () => `revoke_api_key(null, $1, 'x')`,
  store_app_contracts: null,
  unsubscribe_contact_email: null,
  update_contact_emails: () => `update_contact_emails($1, '{ada@a.test}', true)`,
  webhook_has_worker: () => 'webhook_has_worker($1)',
  webhook_oldest_queued_event: () => 'webhook_oldest_queued_event($1)',
  webhook_sends_request_headers: null,
  webhook_workers_lacking: null,
  webhook_workers_without: null,
};

/** The tests of row-level security for a service, whose tables own_table() has registered. */
export async function testRowSecurity({ service, rows: fixtures, createDatabase }: TestedService): Promise<void> {
  const roles = groupRolesOf(service);

  const interfaceNames = interfaceNamesOf(service);
  /** The interface whose rows a role may use. Undefined: the rows of all. */
  const interfaceOfRole = new Map<GroupRole, string>(interfaceNames.map((name) => [roleOf(name), name]));

  const database = await forFile(createDatabase());
  const superuser = await forFile(new Client({ connectionString: database.databaseUrl }));
  await superuser.connect();
  const rolePrefix = await readRolePrefix(superuser);
  const nameOf = (role: GroupRole): string => rolePrefix + role;
  const tables = await readTables(superuser);
  for (const interfaceName of interfaceNames)
    for (const { rowsOf, insert } of fixtures.values())
      if (insert !== null && rowsOf.includes(interfaceName)) await superuser.query(insert, [interfaceName]);
  // Leaves the entries of the fixture.
  await superuser.query('delete from audit_entry where transaction_id is not null');

  const fixtureOf = ({ name }: Table): RowFixture => {
    const fixture = fixtures.get(name);
    if (fixture === undefined) throw new Error(`No fixture for the table ${name}: add it to row-fixtures.ts.`);
    return fixture;
  };

  const othersThan = (name: string): string[] => interfaceNames.filter((other) => other !== name);

  /** The columns that a role may use in an operation. A column that the database computes can neither be inserted nor updated. */
  async function permittedColumns(role: GroupRole, table: Table, operation: Operation): Promise<string[]> {
    if (operation === 'delete') {
      const { rows } = await superuser.query(`select where has_table_privilege($1, $2, 'delete')`, [
        nameOf(role),
        table.name,
      ]);
      return rows.map(() => '*');
    }
    const usable = table.columns.filter(({ generated }) => operation === 'select' || !generated);
    const { rows } = await superuser.query<{ name: string }>(
      'select name from unnest($3::text[]) name where has_column_privilege($1, $2, name, $4)',
      [nameOf(role), table.name, usable.map(({ name }) => name), operation],
    );
    return rows.map(({ name }) => name);
  }

  const reachesRow = (
    role: GroupRole,
    table: Table,
    rowsOf: string,
    statement: string,
    prepare = '',
  ): Promise<boolean> => reachesRowOf(superuser, { role: nameOf(role), table, rowsOf, statement, prepare });

  test('knows every table, and has rows of each interface in it', async () => {
    for (const table of tables) {
      const rowsOf = hasInterface(table)
        ? `select interface::text as name from ${table.name} order by interface`
        : null;
      if (rowsOf === null) continue;
      const { rows } = await superuser.query<{ name: string }>(rowsOf);
      expect({ [table.name]: rows.map(({ name }) => name) }).toEqual({ [table.name]: fixtureOf(table).rowsOf });
    }
    expect([...fixtures.keys()].toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });

  test.each(roles)('%s reads and changes only rows that it may', async (role) => {
    const results: string[] = [];
    const expected: string[] = [];
    for (const table of tables) {
      const { rowsOf, isChild } = fixtureOf(table);
      const isShared = !isChild && !hasInterface(table);
      for (const operation of operations) {
        const permitted = await permittedColumns(role, table, operation);
        const statement = statementFor(table, operation, permitted);
        // A row that is inserted must not exist yet.
        const prepare = operation === 'insert' ? `delete from ${table.name}` : '';
        for (const interfaceName of rowsOf) {
          const attempt = `${operation} ${table.name} of ${interfaceName}`;
          if (await reachesRow(role, table, interfaceName, statement, prepare)) results.push(attempt);
          const isOwn = isShared || (interfaceOfRole.get(role) ?? interfaceName) === interfaceName;
          const isNever = refusedByPolicy.has(`${role} ${operation} ${table.name}`);
          if (permitted.length > 0 && isOwn && !isNever) expected.push(attempt);
        }
      }
    }
    expect(results).toEqual(expected);
    expect(results.length).toBeGreaterThan(0);
  });

  test('a right that was granted by mistake leads to no row of a table of another interface', async () => {
    const { rows: places } = await superuser.query<{ schema: string }>('select current_schema() as schema');
    expect(await findUnprotectedTables(database.databaseUrl, service, places[0]?.schema)).toEqual([]);
  });

  test('every view that an app may read shows the rows that its reader may', async () => {
    const { rows } = await superuser.query(
      `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('v', 'm') and not coalesce(reloptions, '{}') @> '{security_invoker=true}'`,
    );
    expect(rows).toEqual([]);
  });

  test('no role attaches a row to a record of another interface', async () => {
    const accepted: string[] = [];
    for (const role of roles) {
      for (const table of tables.filter((candidate) => hasInterface(candidate) && fixtureOf(candidate).isChild)) {
        const pairs = fixtureOf(table).rowsOf.flatMap((name) =>
          othersThan(name).map((other) => [name, other] as const),
        );
        for (const [interfaceName, other] of pairs) {
          const label = `interface = '${other}'`;
          const insert = statementFor(table, 'insert', await permittedColumns(role, table, 'insert'));
          const prepare = `delete from ${table.name}; update only_row set ${label}`;
          if (await reachesRow(role, table, interfaceName, insert, prepare))
            accepted.push(`${role} insert ${table.name}`);
          const update = `update ${table.name} set ${label}`;
          if (await reachesRow(role, table, interfaceName, update)) accepted.push(`${role} update ${table.name}`);
        }
      }
    }
    const isWorkers = (attempt: string): boolean =>
      withoutForeignKey.some((name) => attempt.startsWith('webhook_worker ') && attempt.endsWith(` ${name}`));
    expect(accepted.filter((attempt) => !isWorkers(attempt))).toEqual([]);
    expect(withoutForeignKey.filter((name) => !accepted.some((attempt) => attempt.endsWith(` ${name}`)))).toEqual([]);
  });

  const accountOf = async (interfaceName: string): Promise<string> =>
    (await superuser.query<{ id: string }>('select id from account where interface = $1', [interfaceName])).rows[0]
      ?.id ?? '';

  describe.each(interfaceNames)('the functions of the owner that a login of the %s interface may call', (name) => {
    const [other = name] = othersThan(name);
    const openLogin = async (): Promise<Connection> => forTest(await connect(await database.urlFor(roleOf(name))));

    // All accounts are frozen, and have a worker, an event that waits, and a client that uses too many coordinates.
    beforeAll(async () => {
      await superuser.query(`
      insert into account_home select id, 5, next_freeze() from account
      on conflict (account_id) do update set frozen_at = excluded.frozen_at;
      with worker as (insert into webhook_worker (name, leased_until) values ('w', now() + interval '1 hour') returning id)
      update webhook_shard set worker_id = worker.id from worker;
      insert into interface_use select id, interface, (now() at time zone 'UTC')::date, '2026-11-01', n, 1
      from api_client, generate_series(1, 5001) n on conflict do nothing`);
    });

    test('are known', async () => {
      const { rows } = await superuser.query<{ name: string }>(
        `select proname as name from pg_proc
       where prosecdef and pronamespace = current_schema()::regnamespace and has_function_privilege($1, oid, 'execute') order by 1`,
        [nameOf(roleOf(name))],
      );
      expect(rows.map((row) => row.name)).toEqual(Object.keys(calls));
    });

    test.each(Object.entries(calls).flatMap(([called, call]) => (call === null ? [] : [[called, call] as const])))(
      '%s does the same for an account of another interface as for none',
      async (_, call) => {
        const login = await openLogin();
        const answerOf = (id: bigint): Promise<unknown> =>
          login.run(`select ${call(name, other)} as answer`, [id]).catch(String);
        const foreign = BigInt(await accountOf(other));
        // In the same shard.
        expect(await answerOf(foreign)).toEqual(await answerOf(foreign + 64n));
      },
    );

    test('know its own accounts', async () => {
      const login = await openLogin();
      const own = await accountOf(name);
      expect(await login.run('select webhook_has_worker($1) as has', [own])).toEqual([{ has: true }]);
      await expect(login.run('select check_homes(array[$1::bigint])', [own])).rejects.toThrow('is frozen');
      for (const relation of ['account_home', 'account_away'])
        expect(await login.run(`select account_id as id from ${relation}`)).toEqual([{ id: own }]);
    });
  });
}
