import { roleOf } from '@deedwire/core';
import { testService, interfaceNames } from '@deedwire/core/test-service';
import type { Connection } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createStore, type GroupRole, groupRolesOf } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';
import { openLogins } from './support/logins.ts';

const roles = groupRolesOf(testService);

const login = (role: GroupRole): Connection => logins.of(role);

const database = await forFile(createServiceDatabase());
const superuser = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const logins = await forFile(openLogins(database, testService));

const interfaceRoles = interfaceNames.map(roleOf);
/** All but the worker, which numbers events. */
const writers: GroupRole[] = [...interfaceRoles, 'operator'];

/** What the roles may not set, although they write other columns of the tables. */
const columnsOfOthers: [operation: 'insert' | 'update', roles: GroupRole[], table: string, columns: string[]][] = [
  ['insert', writers, 'webhook_event_queue', ['position', 'takes', 'blocked_on']],
  ['insert', writers, 'webhook_event', ['occurred_at']],
  ['insert', writers, 'webhook_subscription_sequence', ['last_sequence']],
  ['insert', ['operator'], 'audit_entry', ['transaction_id', 'login', 'at']],
  ['update', interfaceRoles, 'webhook_subscription', ['kind', 'account_id', 'id', 'created_at']],
  ['update', interfaceRoles, 'webhook_subscription', ['queue_position', 'callback_url_since']],
  [
    'update',
    ['operator'],
    'api_key',
    ['key_id', 'key_hash', 'api_client_id', 'interface', 'created_at', 'last_used_at'],
  ],
  ['update', ['operator'], 'api_client', ['client_id', 'account_id', 'interface']],
  ['update', ['operator'], 'account', ['interface', 'organization_id']],
];

test('no app sets a column that the database or another app sets', async () => {
  for (const [operation, limited, table, columns] of columnsOfOthers)
    for (const role of limited)
      for (const column of columns) {
        const [insert, update] = [`insert into ${table} (${column}) values`, `update ${table} set ${column} =`];
        const statement = operation === 'insert' ? `${insert} (default)` : `${update} default`;
        await expect(login(role).run(statement), `${role}: ${statement}`).rejects.toThrow('permission denied');
      }
});

test.each<[GroupRole, string]>([
  ['supplier_api', 'select * from customer_order'],
  ['supplier_api', 'select * from organization'],
  ['supplier_api', 'update webhook_receiver_state set hold_until = null'],
  ['customer_api', 'select * from webhook_worker'],
  ['customer_api', 'select * from webhook_shard'],
  ['customer_api', `update customer_order set note = 'x'`],
  ['customer_api', 'delete from customer_order'],
  ['customer_api', 'update api_key set revoked_at = null'],
  ['customer_api', `insert into api_key (key_id) values ('k')`],
  ['customer_api', `update account set name = 'x'`],
  ['supplier_api', 'select * from audit_entry'],
  ['customer_api', 'select delete_expired_idempotency_keys(1)'],
  ['operator', 'update audit_entry set actor = $$x$$'],
  ['operator', 'delete from audit_entry'],
  ['operator', 'truncate audit_entry'],
  ['operator', 'delete from audit_entry_default'],
  ['webhook_worker', 'select * from audit_entry'],
  ['webhook_worker', 'delete from audit_entry'],
  ['webhook_worker', 'truncate webhook_delivery, webhook_attempt, webhook_event, webhook_payload'],
  ['webhook_worker', 'delete from webhook_delivery'],
  ['webhook_worker', `update webhook_payload set body = ''`],
  ['webhook_worker', 'set role postgres'],
  ['webhook_worker', 'grant operator to webhook_worker'],
  ['webhook_worker', 'select * from customer_order'],
  ['webhook_worker', 'select * from account'],
  ['webhook_worker', 'select * from api_key'],
  ['webhook_worker', 'select * from idempotency_key'],
  ['webhook_worker', `update webhook_subscription set callback_url = 'https://b.test/'`],
  ['webhook_worker', `update webhook_subscription set secret_ciphertext = ''`],
  ['webhook_worker', `update webhook_subscription set request_header_origin = ''`],
  ['webhook_worker', `update webhook_subscription set callback_url = ''`],
  ['webhook_worker', 'update webhook_subscription set last_read_at = now()'],
  ['webhook_worker', `update webhook_subscription set kind = 'PUSH'`],
  ['webhook_worker', 'select webhook_delete_listener(1)'],
  ['supplier_api', 'select webhook_delete_listener(1)'],
  ['supplier_api', 'select webhook_delete_subscription(1)'],
  ['customer_api', 'select webhook_delete_unread_listeners(1)'],
  ['operator', 'select webhook_delete_unread_listeners(1)'],
  ['operator', `update webhook_subscription set kind = 'PUSH'`],
  ['customer_api', 'update account set webhook_listeners_forbidden_at = null'],
  ['webhook_worker', 'update account set webhook_listeners_forbidden_at = null'],
  ['webhook_worker', 'select * from webhook_exchange'],
  ['operator', `update webhook_payload set body = ''`],
  ['operator', 'delete from webhook_exchange'],
  ['operator', `update webhook_subscription set callback_url = ''`],
  ['operator', 'delete from webhook_delivery'],
  ['operator', 'select payload from idempotency_key'],
  ['operator', `update idempotency_key set record_id = 1`],
  ['operator', `delete from idempotency_key`],
  ['operator', 'delete from api_key'],
  ['operator', 'delete from api_client'],
  ['operator', 'delete from account'],
  ['operator', 'truncate api_key'],
  ['operator', 'delete from customer_order'],
  ...roles.flatMap((role): [GroupRole, string][] => [
    [role, `insert into schema_migration (name, checksum) values ('x', 'x')`],
  ]),
  // The worker creates partitions.
  ...([...interfaceNames.map(roleOf), 'operator'] as const).map((role): [GroupRole, string] => [
    role,
    'create table x ()',
  ]),
])('%s is denied: %s', async (role, statement) => {
  // The second message is that of PostgreSQL 15 for a grant.
  await expect(login(role).run(statement)).rejects.toThrow(/permission denied|must have admin option/);
});

// `migrations/rights.json`, which `rights.test.ts` compares with the database, has all rights but these.
test('grants no app a right on a partition', async () => {
  const statement = {
    name: 'partitions',
    text: `
      select c.relname
      from pg_class c, aclexplode(c.relacl) x
      where c.relispartition and x.grantee in (select oid from pg_roles where rolname = any ($1))`,
  };
  expect(await superuser.query(statement, [roles])).toEqual([]);
});
