import type { DatabaseRole, TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertApiClient, insertApiKey } from '../src/credentials.ts';
import { createStore, type Store, type Transaction } from '../src/index.ts';
import { createMigratedDatabase } from './support/database.ts';
import { seedAccount, type Account } from './support/seed.ts';

// Every table whose rows belong to one interface.
const byInterface = [
  'account',
  'api_client',
  'api_key',
  'idempotency_key',
  'webhook_attempt',
  'webhook_delivery',
  'webhook_event',
  'webhook_event_queue',
  'webhook_failed_delivery',
  'webhook_handshake_count',
  'webhook_payload',
  'webhook_pending_delivery',
  'webhook_subscription',
  'webhook_subscription_event_type',
  'webhook_subscription_sequence',
];

let database: TestDatabase;
let superuser: Store;
const logins = new Map<DatabaseRole, Connection>();
const login = (role: DatabaseRole): Connection => {
  const connection = logins.get(role);
  if (connection === undefined) throw new Error(`No login for ${role}.`);
  return connection;
};

async function fillEveryTable(transaction: Transaction, account: Account): Promise<void> {
  const { id: accountId, interfaceName } = account;
  const client = await insertApiClient(transaction, {
    accountId,
    interfaceName,
    clientId: `client-${accountId}`,
    schemaVersion: '2026-11-01',
  });
  const key = { keyId: `key-${accountId}`, apiClientId: client.id, interfaceName, keyHash: Buffer.alloc(32) };
  await insertApiKey(transaction, key);
  const fill = (name: string, text: string) => transaction.query({ name, text }, [accountId, interfaceName]);
  await fill(
    'fill-subscriptions',
    `with subscription as (
       insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
       values ($1, $2, 'https://a.test/', '', 0)
       returning id
     ),
     pin as (
       insert into webhook_subscription_event_type select id, $2, 'referral.created', '2026-11-01' from subscription
     )
     insert into webhook_subscription_sequence select id, $2 from subscription`,
  );
  await fill(
    'fill-events',
    `with event as (
       insert into webhook_event (account_id, interface, event_type, snapshot) values ($1, $2, 'referral.created', '{}')
       returning id
     ),
     payload as (insert into webhook_payload select id, '2026-11-01', $2, '' from event)
     insert into webhook_event_queue (account_id, interface, event_id) select $1, $2, id from event`,
  );
  await fill(
    'fill-deliveries',
    `with delivery as (
       insert into webhook_delivery
         (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select $1, id, $2, 1, 'referral.created', '2026-11-01', now(), 1 from webhook_subscription where account_id = $1
       returning *
     ),
     pending as (
       insert into webhook_pending_delivery
         (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
          due_at, body_bytes)
       select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, 1, now(), 0
       from delivery
     ),
     failed as (insert into webhook_failed_delivery select subscription_id, id, interface from delivery)
     insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms)
     select id, 1, subscription_id, interface, now(), 1 from delivery`,
  );
  await fill(
    'fill-handshakes',
    `insert into webhook_handshake_count (account_id, interface, minute, handshakes) values ($1, $2, now(), 1)`,
  );
  await fill(
    'fill-idempotency-keys',
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
     values ($1, $2, 'm', 'k', '', gen_random_uuid(), now())`,
  );
}

beforeAll(async () => {
  database = await createMigratedDatabase();
  superuser = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  for (const interfaceName of ['lender', 'partner'] as const) {
    const account = await seedAccount(superuser, interfaceName);
    await superuser.transaction((transaction) => fillEveryTable(transaction, account));
  }
  for (const role of ['lender_api', 'partner_api', 'webhook_worker', 'operator'] as const) {
    logins.set(role, await connect(await database.urlFor(role)));
  }
});

afterAll(async () => {
  for (const connection of logins.values()) await connection.close();
  await superuser.close();
  await database.drop();
});

test('enables row-level security for every table whose rows belong to one interface', async () => {
  const rows = await superuser.query<{ name: string; secured: boolean }>(
    {
      name: 'secured-tables',
      text: `
        select c.relname as name, c.relrowsecurity as secured
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'interface'
        where c.relkind in ('r', 'p') and not c.relispartition
        order by c.relname`,
    },
    [],
  );
  expect(rows).toEqual(byInterface.map((name) => ({ name, secured: true })));
});

test.each([
  ['lender_api', 'lender'],
  ['partner_api', 'partner'],
] as const)('%s sees no row of the other interface in any table', async (role, own) => {
  const seen = new Map<string, unknown>();
  for (const table of byInterface) {
    const rows = login(role).run(`select interface from ${table}`);
    seen.set(table, await rows.catch(() => 'not even readable'));
  }
  const expected = byInterface.map((table): [string, unknown] => [table, [{ interface: own }]]);
  expect(seen).toEqual(new Map<string, unknown>([...expected, ['webhook_event_queue', 'not even readable']]));
});

test('every checked table contains rows of both interfaces', async () => {
  for (const table of byInterface) {
    const all = await superuser.query(
      { name: `all-${table}`, text: `select interface from ${table} order by interface` },
      [],
    );
    expect({ [table]: all }).toEqual({ [table]: [{ interface: 'lender' }, { interface: 'partner' }] });
  }
});

test.each([
  ['webhook_subscription', `update webhook_subscription set callback_url = 'https://b.test/' returning interface`],
  ['webhook_subscription_event_type, deleting', 'delete from webhook_subscription_event_type returning interface'],
  ['idempotency_key, deleting', 'delete from idempotency_key returning interface'],
  ['api_key', 'update api_key set last_used_at = now() returning interface'],
])('an API changes only rows of its own interface: %s', async (_, statement) => {
  const api = login('partner_api');
  await api.run('begin');
  expect(await api.run(statement)).toEqual([{ interface: 'partner' }]);
  await api.run('rollback');
});

test('an API cannot insert a row for the other interface, or move one there', async () => {
  const [lender] = await superuser.query<{ id: string }>(
    { name: 'lender', text: `select id from account where interface = 'lender'` },
    [],
  );
  const api = login('partner_api');
  const forged = api.run(
    `insert into webhook_event (account_id, interface, event_type, snapshot) values ($1, 'lender', 'lender.updated', '{}')`,
    [lender?.id],
  );
  await expect(forged).rejects.toThrow('violates row-level security policy');
  // With its own interface, the foreign key rejects the account of the other one.
  const mislabelled = api.run(
    `insert into webhook_event (account_id, interface, event_type, snapshot) values ($1, 'partner', 'lender.updated', '{}')`,
    [lender?.id],
  );
  await expect(mislabelled).rejects.toThrow('violates foreign key constraint');
  await expect(api.run(`update webhook_subscription set interface = 'lender'`)).rejects.toThrow(
    'violates row-level security policy',
  );
});

test.each<[DatabaseRole, string]>([
  ['lender_api', 'select * from referral'],
  ['lender_api', 'select * from matter'],
  ['lender_api', 'update team_member set email = null'],
  ['lender_api', 'select * from organization'],
  ['partner_api', 'select * from team_member'],
  ['partner_api', `update referral set status = 'CONVERTED'`],
  ['partner_api', 'insert into matter (referral_id, reference) values (1, $$M$$)'],
  ['partner_api', 'update api_key set revoked_at = null'],
  ['partner_api', `insert into api_key (key_id) values ('k')`],
  ['partner_api', `update account set name = 'x'`],
  ['webhook_worker', 'select * from referral'],
  ['webhook_worker', 'select * from team_member'],
  ['webhook_worker', 'select * from account'],
  ['webhook_worker', 'select * from api_key'],
  ['webhook_worker', 'select * from idempotency_key'],
  ['webhook_worker', `update webhook_subscription set callback_url = 'https://b.test/'`],
  ['webhook_worker', `update webhook_subscription set secret_ciphertext = ''`],
  ['webhook_worker', `update webhook_subscription_event_type set event_version = 'x'`],
  ['webhook_worker', 'create schema x'],
  ['operator', 'select body from webhook_payload'],
  ['operator', 'delete from webhook_event_queue'],
  ['operator', 'update webhook_subscription set paused_at = now()'],
  ['operator', 'delete from webhook_delivery'],
  ['operator', 'delete from api_key'],
  ['operator', 'delete from referral'],
  // The worker creates partitions.
  ...(['lender_api', 'partner_api', 'operator'] as const).map((role): [DatabaseRole, string] => [
    role,
    'create table x ()',
  ]),
  ...(['lender_api', 'partner_api', 'webhook_worker', 'operator'] as const).flatMap(
    (role): [DatabaseRole, string][] => [[role, `insert into schema_migration (name, checksum) values ('x', 'x')`]],
  ),
])('%s is denied: %s', async (role, statement) => {
  await expect(login(role).run(statement)).rejects.toThrow('permission denied');
});

// Every change of the rights of an app must change this list.
test('grants each app exactly these rights', async () => {
  const rows = await superuser.query<{ role: string; grant: string }>(
    {
      name: 'grants',
      text: `
        with grants as (
          select c.relname, null::name as attname, x.grantee, x.privilege_type
          from pg_class c, aclexplode(c.relacl) x
          where c.relnamespace = 'public'::regnamespace
          union all
          select c.relname, a.attname, x.grantee, x.privilege_type
          from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) x
          where c.relnamespace = 'public'::regnamespace
        ),
        lines as (
          select r.rolname,
            g.relname || ': ' || string_agg(
              lower(g.privilege_type) || coalesce('(' || g.attname || ')', ''), ' ' order by g.privilege_type, g.attname
            ) as line
          from grants g join pg_roles r on r.oid = g.grantee
          where r.rolname in ('lender_api', 'partner_api', 'webhook_worker', 'operator')
          group by r.rolname, g.relname
        )
        select rolname as role, string_agg(line, e'\\n' order by line) as grant from lines group by rolname order by rolname`,
    },
    [],
  );
  expect(Object.fromEntries(rows.map(({ role, grant }) => [role, grant.split('\n')]))).toMatchInlineSnapshot(`
    {
      "lender_api": [
        "account: select",
        "api_client: select",
        "api_key: select update(last_used_at)",
        "idempotency_key: delete insert select update",
        "record_number: usage",
        "schema_migration: select",
        "team_member: select",
        "webhook_attempt: select",
        "webhook_delivery: select",
        "webhook_event: insert select",
        "webhook_event_queue: insert",
        "webhook_failed_delivery: select",
        "webhook_handshake_count: delete insert select update",
        "webhook_payload: select",
        "webhook_pending_delivery: select",
        "webhook_queue_position: select usage",
        "webhook_retention: select",
        "webhook_subscription: insert select update",
        "webhook_subscription_event_type: delete insert select",
        "webhook_subscription_sequence: insert select",
      ],
      "operator": [
        "account: insert select update",
        "api_client: insert select update",
        "api_key: insert select update",
        "matter: insert select",
        "matter_number: usage",
        "organization: insert select",
        "record_number: usage",
        "referral: insert select update",
        "schema_migration: select",
        "team_member: delete insert select update",
        "webhook_attempt: select",
        "webhook_delivery: select",
        "webhook_event: insert select",
        "webhook_event_queue: insert select",
        "webhook_failed_delivery: select",
        "webhook_pending_delivery: select",
        "webhook_queue_position: select usage",
        "webhook_receiver_state: select",
        "webhook_retention: select",
        "webhook_shard: select",
        "webhook_subscription: select",
        "webhook_subscription_event_type: select",
        "webhook_subscription_sequence: select",
        "webhook_worker: select",
      ],
      "partner_api": [
        "account: select",
        "api_client: select",
        "api_key: select update(last_used_at)",
        "idempotency_key: delete insert select update",
        "matter: select",
        "record_number: usage",
        "referral: insert select",
        "schema_migration: select",
        "webhook_attempt: select",
        "webhook_delivery: select",
        "webhook_event: insert select",
        "webhook_event_queue: insert",
        "webhook_failed_delivery: select",
        "webhook_handshake_count: delete insert select update",
        "webhook_payload: select",
        "webhook_pending_delivery: select",
        "webhook_queue_position: select usage",
        "webhook_retention: select",
        "webhook_subscription: insert select update",
        "webhook_subscription_event_type: delete insert select",
        "webhook_subscription_sequence: insert select",
      ],
      "webhook_worker": [
        "record_number: usage",
        "schema_migration: select",
        "webhook_attempt: delete insert maintain references select trigger truncate update",
        "webhook_delivery: delete insert maintain references select trigger truncate update",
        "webhook_event: delete insert maintain references select trigger truncate update",
        "webhook_event_queue: delete insert select update",
        "webhook_failed_delivery: delete insert select update",
        "webhook_payload: delete insert maintain references select trigger truncate update",
        "webhook_pending_delivery: delete insert select update",
        "webhook_queue_position: select usage",
        "webhook_receiver_state: delete insert select update",
        "webhook_retention: select update",
        "webhook_shard: select update",
        "webhook_subscription: select update(paused_at) update(paused_reason)",
        "webhook_subscription_event_type: select",
        "webhook_subscription_sequence: select update",
        "webhook_worker: delete insert select update",
      ],
    }
  `);
});
