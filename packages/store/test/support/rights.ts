import { interfaceNamesOf, roleOf, type Service } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { withClient } from '@deedwire/embedded-postgres';
import { connect, type Connection, missing, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkDatabase } from '../../src/checks/check-database.ts';
import { describeDatabaseProblems, type GroupRole, groupRolesOf, migrate } from '../../src/index.ts';
import { rightsOf } from '../../src/migrations/rights.ts';
import { withStore } from './database.ts';
import { openLogins } from './logins.ts';
import { readRolePrefix, type TestedService } from './tested-services.ts';

export function problemsOf(databaseUrl: string, role: GroupRole, service: Service = testService): Promise<string[]> {
  return withStore(databaseUrl, (store) => describeDatabaseProblems(store, service, role));
}

/** The tests of what the logins of the apps of a service may do. */
export async function testRights({ service, granted, createDatabase }: TestedService): Promise<void> {
  const roles = groupRolesOf(service);
  const interfaceNames = interfaceNamesOf(service);
  const [firstRole = 'operator'] = interfaceNames.map(roleOf);
  const [someInterface = ''] = interfaceNames.slice(-1);

  const login = (role: GroupRole): Connection => logins.of(role);

  const database = await forFile(createDatabase());
  const superuser = await forFile(connect(database.databaseUrl));
  const logins = await forFile(openLogins(database, service));
  const rolePrefix = await withClient(database.databaseUrl, readRolePrefix);
  const nameOf = (role: GroupRole): string => rolePrefix + role;
  const names = roles.map(nameOf);
  const [{ schema } = missing()] = await superuser.run('select current_schema() as schema');
  describe('the catalog', () => {
    test('no app may create an object in a schema, or a schema', async () => {
      const found = await superuser.run(
        `select role_name, nspname as schema
       from unnest($1::text[]) as role_name, pg_namespace
       where nspname !~ '^pg_(toast_)?temp_' and has_schema_privilege(role_name, oid, 'create')
       union all
       select role_name, 'a new one' from unnest($1::text[]) as role_name
       where has_database_privilege(role_name, current_database(), 'create')`,
        [names],
      );
      expect(found).toEqual([]);
    });

    test('no app owns a relation, a function, a type or a schema', async () => {
      const found = await superuser.run(
        `select owner.rolname as owner, pg_describe_object(d.classid, d.objid, d.objsubid) as object
       from pg_shdepend d
       join pg_roles owner on owner.oid = d.refobjid
       where d.deptype = 'o' and d.dbid = (select oid from pg_database where datname = current_database())
         and (owner.rolname = any($1) or exists (
           select from unnest($1::text[]) as role_name where pg_has_role(owner.oid, role_name, 'member') and not owner.rolsuper
         ))`,
        [names],
      );
      expect(found).toEqual([]);
    });

    test('every function that runs with the rights of its owner resolves names in pg_catalog only', async () => {
      const functions = await superuser.run(
        `select proname::text as name, coalesce((
         select setting from unnest(proconfig) as setting where setting like 'search_path=%'
       ), 'the search_path of the caller') as path
       from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace order by 1`,
      );
      expect(functions.filter(({ path }) => path !== 'search_path=pg_catalog, pg_temp')).toEqual([]);
    });

    test('only the apps that need a function that runs with the rights of its owner may call it', async () => {
      const callers = await superuser.run(
        `select concat_ws(' ', proname || ':', string_agg(label, ' ' order by label)) as callers
       from pg_proc
       left join unnest($1::text[] || array['public'], '{interface}' || $2::text[] || array['public']) as c (role_name, label)
         on has_function_privilege(role_name, oid, 'execute')
       where prosecdef and pronamespace = current_schema()::regnamespace
       group by proname order by proname`,
        // Every interface may call the same: interfaces.test.ts.
        [[firstRole, 'webhook_worker', 'operator'].map((role) => rolePrefix + role), ['webhook_worker', 'operator']],
      );
      expect(callers.map((row) => row['callers'])).toEqual([
        'advance_sequences: operator',
        'append_event:',
        'are_erased_deliveries_reread: operator',
        'audit_change:',
        'audit_portal_session:',
        'begin_person_erasure: operator',
        'begin_record_erasure: operator',
        'check_api_key:',
        'check_foreign_partition: operator',
        'check_home:',
        'check_homes: interface operator',
        'check_portal_session:',
        'close_copy: operator',
        'confirm_contact_email: interface',
        'count_kept_of_person: operator',
        'create_account:',
        'create_api_key:',
        'create_cost_bucket:',
        'create_portal_link:',
        'delete_expired_idempotency_keys: webhook_worker',
        'delete_expired_portal_sessions: webhook_worker',
        'delete_foreign_rows: operator',
        'delete_old_use: webhook_worker',
        'drop_foreign_partition: operator',
        'end_contact_mail: webhook_worker',
        'end_erased_deliveries: operator',
        'end_person_erasure: operator',
        'end_process: interface webhook_worker',
        'end_record_erasure: operator',
        'erase_contact_emails: operator',
        'erase_person_events: operator',
        'expire_copied_deliveries: operator',
        'foreign_bytes: operator',
        'foreign_tables: operator',
        'forget_contacts: webhook_worker',
        'forget_emptied_table: operator',
        'forget_ended_api_keys: webhook_worker',
        'forget_keys_of_person: operator',
        'gid:',
        'issue_api_key: interface operator',
        'maintain_audit_log: operator webhook_worker',
        'mark_erased_deliveries: operator',
        'merge_audit_claim:',
        'next_freeze:',
        'note_home_change:',
        'offer_home:',
        'person_accounts: operator',
        'person_addresses: operator',
        'person_addresses_by_account: operator',
        'person_row: operator',
        'record_use: interface',
        'refuse_account_elsewhere:',
        'register_process: interface operator webhook_worker',
        'report_expiring_api_keys: webhook_worker',
        'require_no_app: operator',
        'reread_erased_deliveries: operator',
        'revoke_api_key: interface operator',
        'sequence_states: operator webhook_worker',
        'store_app_contracts: interface operator webhook_worker',
        'take_contact_mail: webhook_worker',
        'unsubscribe_contact_email: interface',
        'update_contact_emails: interface operator',
        'wake:',
        'webhook_create_partitions: webhook_worker',
        'webhook_delete_listener: operator',
        'webhook_delete_subscription: operator',
        'webhook_delete_unread_listeners: webhook_worker',
        'webhook_drop_exchange_partition: webhook_worker',
        'webhook_drop_partition: webhook_worker',
        'webhook_end_rotations: webhook_worker',
        'webhook_erase_exchanges: webhook_worker',
        'webhook_forget_subscriptions: webhook_worker',
        'webhook_has_worker: interface operator',
        'webhook_note_pause:',
        'webhook_oldest_queued_event: interface',
        'webhook_raise_alerts: webhook_worker',
        'webhook_sends_request_headers: interface operator',
        'webhook_unquiet_workers: operator',
        'webhook_workers_lacking: interface operator',
        'webhook_workers_without: interface operator',
      ]);
    });
  });

  describe('a login of an app cannot become the owner', () => {
    test('a function of the owner does not call a function in public, even if there is one', async () => {
      const own = await createDatabase();
      const owner = await connect(own.databaseUrl);
      const worker = await connect(await own.urlFor('webhook_worker'));
      const operator = await connect(await own.urlFor('operator'));
      try {
        // They match better than those of pg_catalog, whose parameters have other types.
        await owner.run(`
        create function public."right"(name, integer) returns text language plpgsql as $$begin raise 'shadowed'; end$$;
        create function public.nextval(text) returns bigint language plpgsql as $$begin raise 'shadowed'; end$$;
        create function public.to_char(date, text) returns text language plpgsql as $$begin raise 'shadowed'; end$$;
        create table audit_entry_2026_01 partition of audit_entry for values from ('2026-01-01Z') to ('2026-02-01Z')`);
        expect(await worker.run('select dropped from maintain_audit_log(100)')).toContainEqual({
          dropped: 'audit_entry_2026_01',
        });
        await worker.run('call webhook_create_partitions(20)');
        expect(await worker.run('select webhook_drop_partition(1) as name')).toEqual([{ name: null }]);
        expect(await worker.run('select delete_expired_idempotency_keys(10) as count')).toEqual([{ count: '0' }]);
        await operator.run(`insert into organization (name) values ('Test')`);
      } finally {
        for (const connection of [operator, worker, owner]) await connection.close();
        await own.drop();
      }
    });

    test.each(roles)('%s cannot run code with the rights of others who write events', async (role) => {
      await expect(
        login(role).run(
          'create trigger steal before insert on webhook_event for each row execute function create_cost_bucket()',
        ),
      ).rejects.toThrow(/permission denied|must be owner/);
      await expect(login(role).run('alter table webhook_event disable row level security')).rejects.toThrow(
        'must be owner',
      );
    });

    test('the worker locks deliveries, and changes none', async () => {
      await superuser.run(`insert into webhook_delivery
      (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
      values (1, 1, '${someInterface}', 1, 't', 'v', now(), 1)`);
      const worker = login('webhook_worker');
      expect(await worker.run('select sequence from webhook_delivery for no key update')).toEqual([{ sequence: '1' }]);
      await expect(worker.run('update webhook_delivery set sequence = 2')).rejects.toThrow(
        'violates row-level security',
      );
      await expect(worker.run('update webhook_delivery set subscription_id = 2')).rejects.toThrow('permission denied');
    });

    test('the worker can neither drop a day that is younger than a day nor fill the catalog', async () => {
      const worker = login('webhook_worker');
      await expect(worker.run('select webhook_drop_partition(0)')).rejects.toThrow(
        'The webhook history is kept for at least 1 day, not 0.',
      );
      await expect(worker.run('select webhook_drop_exchange_partition(0)')).rejects.toThrow(
        'The details of attempts are kept for at least 1 day, not 0.',
      );
      expect(await worker.run('select webhook_drop_exchange_partition(1) as name')).toEqual([{ name: null }]);
      await worker.run('begin');
      try {
        await worker.run('update webhook_retention set expired_before = 9000000000000000000');
        expect(await worker.run('select name from webhook_due_partitions(1)')).toEqual([]);
      } finally {
        await worker.run('rollback');
      }
      await expect(worker.run('call webhook_create_partitions(100000)')).rejects.toThrow(
        'Partitions are created for at most 366 days, not 100000.',
      );
    });
  });

  /** Returns the id of a new account. */
  async function addAccount(interfaceName: string): Promise<string> {
    const [row] = await superuser.run(
      `with organization as (insert into organization (name) values ('Test') returning id)
     insert into account (interface, organization_id, name) select $1, id, 'Test' from organization returning id`,
      [interfaceName],
    );
    return String(row?.['id']);
  }

  /** The second of two concurrent transactions waits for the first one, and is refused. So is one whose snapshot may be older. */
  async function expectRefusedTogether(role: GroupRole, inserts: [string, string], one: string, message: string) {
    const other = await connect(await database.urlFor(role));
    try {
      await login(role).run(`begin; ${inserts[0]}`);
      const second = other.run(inserts[1]);
      await untilBlocked(superuser, 1);
      await Promise.all([login(role).run('commit'), expect(second).rejects.toThrow(message)]);
      await other.run('begin isolation level repeatable read');
      await expect(other.run(one)).rejects.toThrow('read committed');
      await other.run('rollback');
    } finally {
      await other.close();
    }
  }

  test('a subscription has a position that was drawn', async () => {
    const account = await addAccount(someInterface);
    const subscribe = (position: string) =>
      login(roleOf(someInterface)).run(
        `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
         values ($1, '${someInterface}', '', '', ${position})`,
        [account],
      );
    const refusal = 'new row violates row-level security policy for table "webhook_subscription"';
    await subscribe(`nextval('webhook_queue_position')`);
    await expect(subscribe('1000000')).rejects.toThrow(refusal);
    await expect(
      login(roleOf(someInterface)).run('update webhook_subscription set queue_position = 9223372036854775807'),
    ).rejects.toThrow('permission denied for table webhook_subscription');
    expect(await superuser.run('select sequence from sequence_states() where last_number < highest_used')).toEqual([]);
  });

  describe.each(interfaceNames)('the listeners of a %s', (interfaceName) => {
    const role = roleOf(interfaceName);
    const api = (): Connection => login(role);
    let account: string;

    beforeEach(async () => {
      account = await addAccount(interfaceName);
    });

    const insert = (count: number, lastReadAt = 'now()'): string =>
      `insert into webhook_subscription (account_id, interface, kind, callback_url, secret_ciphertext, paused_reason, paused_at,
       last_read_at, queue_position)
     select ${account}, '${interfaceName}', 'LISTENER', '', '', 'OWNER', now(), ${lastReadAt}, 0
     from generate_series(1, ${count}) returning id`;
    const listen = async (): Promise<string> => String((await api().run(insert(1)))[0]?.['id']);
    const count = async (): Promise<unknown> =>
      (
        await superuser.run(
          `select count(*)::int as listeners from webhook_subscription where account_id = $1 and deleted_at is null`,
          [account],
        )
      )[0]?.['listeners'];

    test('no login creates more than 10, in one statement or in concurrent transactions', async () => {
      await expect(api().run(insert(11))).rejects.toThrow(`The account ${account} may have 10 listeners.`);
      await expect(api().run(`with first as (${insert(10)}) ${insert(1)}`)).rejects.toThrow('may have 10 listeners');
      await expectRefusedTogether(role, [insert(9), insert(9)], insert(1), 'may have 10 listeners');
      expect(await count()).toBe(9);
      await listen();
      await expect(listen()).rejects.toThrow('may have 10 listeners');
    });

    test('no login creates one for an account that may have none, or restores a deleted one', async () => {
      const id = await listen();
      await api().run(`update webhook_subscription set deleted_at = now() where id = ${id}`);
      for (const change of ['deleted_at = null', 'deleted_at = default'])
        await expect(api().run(`update webhook_subscription set ${change} where id = ${id}`)).rejects.toThrow(
          'is deleted',
        );
      await superuser.run('update account set webhook_listeners_forbidden_at = now() where id = $1', [account]);
      await expect(listen()).rejects.toThrow('may have no listeners');
      expect(await count()).toBe(0);
    });

    test('no login moves the last read of one back, or into the future', async () => {
      const id = await listen();
      const set = (time: string): string => `update webhook_subscription set last_read_at = ${time} where id = ${id}`;
      for (const time of [`now() - interval '1 minute'`, `now() + interval '1 minute'`, `'infinity'`, `'-infinity'`])
        await expect(api().run(set(time))).rejects.toThrow('The last read of the listener');
      await expect(api().run(set('null'))).rejects.toThrow('webhook_listener_is_never_sent');
      await expect(api().run(insert(1, `now() + interval '1 minute'`))).rejects.toThrow('cannot be read in the future');
      // As time passes.
      await superuser.run(set(`now() - interval '2 hours'`));
      await api().run(set('now()'));
    });

    test('no setting of the session makes it the owner, to whom this does not apply', async () => {
      const id = await listen();
      for (const setting of ['row_security = off', `search_path = pg_temp, ${String(schema)}`]) {
        await api().run(`set ${setting}`);
        try {
          await expect(
            api().run(`update webhook_subscription set last_read_at = 'infinity' where id = ${id}`),
          ).rejects.toThrow(/The last read of the listener|would be affected by row-level security/);
        } finally {
          await api().run('reset row_security; reset search_path');
        }
      }
      await expect(api().run('set session_replication_role = replica')).rejects.toThrow('permission denied');
    });
  });

  /** Returns the id of a delivery of the subscription. */
  const deliver = async (subscription: string): Promise<string> => {
    const [row] = await superuser.run(
      `insert into webhook_delivery (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select account_id, id, interface, 1, 't', 'v', now(), 1 from webhook_subscription where id = $1 returning id`,
      [subscription],
    );
    return String(row?.['id']);
  };

  describe.each(interfaceNames)('the subscriptions of a %s', (interfaceName) => {
    const role = roleOf(interfaceName);
    const api = (): Connection => login(role);

    const insert = (account: string, count: number, id = 'new_record_id()'): string =>
      `insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
     select ${id}, ${account}, '${interfaceName}', '', '', 0 from generate_series(1, ${count}) returning id`;
    const subscribe = async (account: string): Promise<string> =>
      String((await api().run(insert(account, 1)))[0]?.['id']);

    test('no login creates more than 20, or one with an id of the past', async () => {
      const account = await addAccount(interfaceName);
      await expect(api().run(insert(account, 21))).rejects.toThrow(`The account ${account} may have 20 subscriptions.`);
      await expect(api().run(insert(account, 1, '1'))).rejects.toThrow('was drawn more than an hour ago');
      await api().run(insert(account, 20));
      await expect(subscribe(account)).rejects.toThrow('may have 20 subscriptions');
    });

    test('no login dates the deletion of one, which decides when its rows end', async () => {
      const id = await subscribe(await addAccount(interfaceName));
      const set = (time: string): string => `update webhook_subscription set deleted_at = ${time} where id = ${id}`;
      for (const time of [
        `now() - interval '1 minute'`,
        `now() + interval '1 minute'`,
        `'1970-01-01Z'`,
        `'9999-12-31Z'`,
      ])
        await expect(api().run(set(time))).rejects.toThrow(`The subscription ${id} is deleted now, and not at `);
      await api().run(set('now()'));
      for (const time of [`'1970-01-01Z'`, `now() + interval '1 second'`, 'null'])
        await expect(api().run(set(time))).rejects.toThrow(`The subscription ${id} is deleted.`);
    });

    test('no login adds more than 100 event types, in one statement or in concurrent transactions', async () => {
      const id = await subscribe(await addAccount(interfaceName));
      const add = (first: number, last: number): string =>
        `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
       select ${id}, '${interfaceName}', g::text, 'x' from generate_series(${first}, ${last}) g`;
      await expect(api().run(add(1, 101))).rejects.toThrow(`The subscription ${id} may have 100 event types.`);
      await expectRefusedTogether(role, [add(1, 60), add(61, 120)], add(61, 61), 'may have 100 event types');
      await api().run(add(61, 100));
    });

    test('no login asks for a replay of another account, or a retry of another subscription', async () => {
      const [account, stranger] = [await addAccount(interfaceName), await addAccount(interfaceName)];
      const [own, foreign] = [await subscribe(account), await subscribe(stranger)];
      const replay = (subscription: string, delivery: string | null) =>
        api().run(
          `insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id, last_id)
         values ($1, '${interfaceName}', $2, $3, false, 1, 0, 1, 0)`,
          [account, subscription, delivery],
        );
      for (const delivery of [null, await deliver(foreign)])
        await expect(replay(foreign, delivery)).rejects.toThrow(
          `The account ${account} has no subscription ${foreign}.`,
        );
      for (const delivery of ['1', await deliver(foreign)])
        await expect(replay(own, delivery)).rejects.toThrow(`The subscription ${own} has no delivery ${delivery}.`);
      await replay(own, await deliver(own));
      await replay(own, null);
    });

    test('no login continues a replay that was cancelled', async () => {
      const account = await addAccount(interfaceName);
      const id = await subscribe(account);
      await api().run(
        `insert into webhook_replay (account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id)
       values ($1, '${interfaceName}', $2, false, 1, 0, 1, 0)`,
        [account, id],
      );
      const set = (time: string) =>
        api().run(`update webhook_replay set cancelled_at = ${time} where subscription_id = $1`, [id]);
      await set('now()');
      for (const time of ['null', `now() + interval '1 day'`])
        await expect(set(time)).rejects.toThrow('has been cancelled since');
    });
  });

  describe('locks of migrations and maintenance', () => {
    const tables = ['schema_migration', 'audit_entry_default', 'webhook_retention'];

    test.each(interfaceNames.map(roleOf).flatMap((role) => tables.map((table) => [role, table] as const)))(
      '%s cannot take one on %s',
      async (role, table) => {
        await expect(login(role).run(`begin; lock table ${table} in share update exclusive mode`)).rejects.toThrow(
          'permission denied',
        );
        await login(role).run('rollback');
      },
    );

    test('advisory locks delay neither', async () => {
      const own = await createDatabase();
      const attacker = await connect(await own.urlFor(firstRole));
      const worker = await connect(await own.urlFor('webhook_worker'));
      try {
        await withClient(own.databaseUrl, (owner) =>
          owner.query(`do $$begin execute (select format('drop table %I', max(relname)) from pg_class
          where relname ~ '^audit_entry_\\d{4}_\\d\\d$'); end$$`),
        );
        await attacker.run('select pg_advisory_lock(4301777), pg_advisory_lock(4301778)');
        expect(await migrate(own.databaseUrl, service)).toMatchObject({ applied: [] });
        expect(await worker.run('select dropped from maintain_audit_log(100)')).toEqual([{ dropped: null }]);
      } finally {
        for (const connection of [attacker, worker]) await connection.close();
        await own.drop();
      }
    });
  });

  test.each(roles)('each right of %s', async (role) => {
    const own = await createDatabase();
    const owner = await connect(own.databaseUrl);
    // Runs what is printed, as it is printed.
    const reader = await connect(own.databaseUrl);
    await reader.run(`set search_path = ''`);
    const url = await own.urlFor(role);
    expect(await problemsOf(url, role, service)).toEqual([]);
    const name = nameOf(role);
    await withStore(url, async (store) => {
      const problems = () => describeDatabaseProblems(store, service, role);
      const runRemedy = async () => {
        const [problem = ''] = await problems();
        await reader.run(problem.split('; run: ')[1] ?? missing());
      };
      const rights = await rightsOf(store, name);
      expect(rights.length).toBeGreaterThan(10);
      // Without one, an app cannot tell what else it lacks.
      const histories = ['app_migration', 'schema_migration'].map((table) => `select on ${table}`);
      for (const right of histories) {
        await owner.run(`revoke ${right} from ${name}`);
        expect(await problems()).toEqual([
          expect.stringMatching(`^the group role ${name} lacks the right "${right}"; run: grant `),
        ]);
        await runRemedy();
      }
      const others = rights.filter((right) => !histories.includes(right));
      await owner.run(others.map((right) => `revoke ${right} from ${name}`).join(';'));
      const { missingRights } = await checkDatabase(store, service, role);
      expect(missingRights.map((lacking) => [lacking.role, lacking.right])).toEqual(
        others.filter((right) => !granted.includes(right.split(' on ')[1] ?? '')).map((right) => [name, right]),
      );
      await reader.run(missingRights.map(({ sql }) => sql).join(';'));
      expect(await problems()).toEqual([]);
      for (const right of others.slice(0, 3)) await owner.run(`revoke ${right} from ${name}`);
      expect(await problems()).toEqual([
        expect.stringMatching(`^the group role ${name} lacks the right "${others[0]}" and 2 other rights; run: grant `),
      ]);
      await runRemedy();
      expect(await problems()).toEqual([
        expect.stringMatching(`^the group role ${name} lacks the right "${others[1]}" and 1 other right; run: grant `),
      ]);
      // A later migration revokes what a build uses no longer.
      await owner.run(`insert into schema_migration (name, checksum) values ('9999-later', '')`);
      expect(await problems()).toEqual([]);
    });
    expect(await problemsOf(own.databaseUrl, role, service)).toEqual([]);
    for (const connection of [reader, owner]) await connection.close();
    await own.drop();
  });
}
