import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { createServiceDatabase } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
/** A session of the operator's login, as psql has it. */
const psql = await forFile(connect(await database.urlFor('operator')));
// Not one that clients take.
await superuser.run(`insert into audit_action values ('order.refund', true, false)`);
/** A session of the login of an API. */
const customerApi = await forFile(connect(await database.urlFor('customer_api')));

beforeEach(async () => {
  await superuser.run(`
    begin;
    set local session_replication_role = replica;
    delete from audit_entry; delete from api_key; delete from cost_bucket; delete from api_client; delete from account;
    delete from organization;
    commit;
    insert into organization (id, name) values (1, 'Harbour');
    insert into account (id, interface, organization_id, name) values (2, 'customer', 1, 'Keystone');
    insert into api_client (id, account_id, interface, client_id, schema_version)
      values (3, 2, 'customer', 'portal', '2026-11-01');
    insert into api_key (key_id, api_client_id, interface, key_hash) values ('k1', 3, 'customer', sha256('one'));
    delete from audit_entry`);
});

/** The entries without their times and numbers, oldest first. */
const entries = () =>
  superuser.run(`
    select login, actor_type, actor, address, request_id, action, subject, account_id, interface, details
    from audit_entry order by at, number`);
/** `<actor> <action> <subject>` of the entries, oldest first. */
const summary = async () =>
  (await entries()).map(({ actor, action, subject }) => `${String(actor)} ${String(action)} ${String(subject)}`);

const ofPsql = {
  login: expect.stringMatching(/_operator$/),
  actor_type: null,
  actor: null,
  address: null,
  request_id: null,
  account_id: '2',
  interface: 'customer',
};

const entry = (action: string, subject: string, details: object) => ({ ...ofPsql, action, subject, details });
/** An entry of a key of the client `portal`. */
const ofKey = (action: string, subject: string, details: object) =>
  entry(action, subject, { clientId: 'portal', ...details });

/** The entry of a revocation that the operator ada claims. */
const revocationByAda = {
  ...ofPsql,
  actor_type: 'OPERATOR',
  actor: 'ada',
  address: 'desk',
  request_id: 'run-1',
  action: 'credential.revoke',
  subject: 'k1',
  details: {
    clientId: 'portal',
    command: 'credential.revoke',
    old: { revoked_at: null },
    new: { revoked_at: expect.any(String) },
  },
};

const revoke = `update api_key set revoked_at = now() where key_id = 'k1'`;

/** An entry that a login of operators writes itself, which is a claim about its change. */
const entryOfOperator = (action: string, subject: string, actor = 'ada') => `
  insert into audit_entry (actor_type, actor, address, request_id, action, subject, account_id, interface, details)
  values ('OPERATOR', '${actor}', 'desk', 'run-1', '${action}', '${subject}', 2, 'customer', '{"clientId": "forged"}')`;

/** What commands write before their change. */
const claimOf = (actor: string) =>
  `select set_config('deedwire.audit_claim',
    '{"actor": "${actor}", "address": "desk", "requestId": "run-1", "command": "credential.revoke"}', true)`;

test('each change by psql writes one entry with the login and the values, and no actor', async () => {
  await psql.run(
    `insert into account (id, interface, organization_id, name) values (9007199254740993, 'supplier', 1, 'New')`,
  );
  await psql.run(`update account set name = 'Renamed' where id = 2`);
  await psql.run(`insert into api_client (id, account_id, interface, client_id, schema_version)
    values (4, 2, 'customer', 'batch', '2026-11-01')`);
  await psql.run(`update api_client set schema_version = '2027-02-01' where id = 3`);
  await psql.run(`update api_client set cost_maximum = 5000 where id = 3`);
  await psql.run(`update api_client set cost_maximum = 6000, schema_version = '2026-11-01' where id = 3`);
  await psql.run(`insert into api_key (key_id, api_client_id, interface, key_hash, created_at)
    values ('k2', 3, 'customer', sha256('two'), '2026-11-02T10:00+02')`);
  await psql.run(`set timezone = 'Asia/Tokyo'`);
  await psql.run(`update api_key set expires_at = '2027-01-01T00:00Z' where key_id = 'k1'`);
  await psql.run(`update api_key set expires_at = null, revoked_at = '2026-11-21T00:00Z' where key_id = 'k1'`);
  await psql.run('reset timezone');

  const created = {
    id: '9007199254740993',
    interface: 'supplier',
    organization_id: '1',
    name: 'New',
    created_at: expect.any(String),
  };
  const batch = {
    id: '4',
    account_id: '2',
    interface: 'customer',
    client_id: 'batch',
    schema_version: '2026-11-01',
    cost_maximum: '2000',
    cost_restore_rate: '200',
    created_at: expect.any(String),
  };
  const k2 = {
    key_id: 'k2',
    api_client_id: '3',
    interface: 'customer',
    key_hash: 'hidden',
    abilities: '["READ", "READ_PAYLOAD", "OPERATE", "CONFIGURE", "WRITE"]',
    created_at: '2026-11-02T08:00:00+00:00',
  };
  const [expiry, revocation] = ['2027-01-01T00:00:00+00:00', '2026-11-21T00:00:00+00:00'];
  const ofSupplier = { account_id: created.id, interface: 'supplier' };
  expect(await entries()).toEqual([
    { ...entry('supplier.create', `Supplier/${created.id}`, { new: created }), ...ofSupplier },
    entry('customer.update', 'Customer/2', { old: { name: 'Keystone' }, new: { name: 'Renamed' } }),
    entry('client.create', 'batch', { new: batch }),
    entry('client.pin', 'portal', { old: { schema_version: '2026-11-01' }, new: { schema_version: '2027-02-01' } }),
    entry('client.set-limit', 'portal', { old: { cost_maximum: '2000' }, new: { cost_maximum: '5000' } }),
    entry('client.update', 'portal', {
      old: { cost_maximum: '5000', schema_version: '2027-02-01' },
      new: { cost_maximum: '6000', schema_version: '2026-11-01' },
    }),
    ofKey('credential.issue', 'k2', { new: k2 }),
    ofKey('credential.expire', 'k1', { old: { expires_at: null }, new: { expires_at: expiry } }),
    ofKey('credential.revoke', 'k1', {
      old: { expires_at: expiry, revoked_at: null },
      new: { expires_at: null, revoked_at: revocation },
    }),
  ]);
});

test('each changed row has an entry, even when one statement changes several', async () => {
  await psql.run(`insert into api_key (key_id, api_client_id, interface, key_hash)
    select 'k' || n, 3, 'customer', sha256('x') from generate_series(2, 5) n`);
  await psql.run('update api_key set revoked_at = now()');
  expect(await summary()).toEqual([
    ...[2, 3, 4, 5].map((n) => `null credential.issue k${n}`),
    ...[1, 2, 3, 4, 5].map((n) => `null credential.revoke k${n}`),
  ]);
});

test('the last use of a key writes no entry, and neither does an update that changes nothing', async () => {
  await customerApi.run(`update api_key set last_used_at = now() where key_id = 'k1'`);
  await superuser.run(`update api_key set last_used_at = now(), expires_at = expires_at`);
  await psql.run(`update account set name = name; update api_client set schema_version = schema_version`);
  await psql.run(`update api_key set expires_at = expires_at, revoked_at = revoked_at`);
  expect(await entries()).toEqual([]);
});

test('every column of a key except its last use, notice and replacement runs the trigger', async () => {
  const [columns] = await superuser.run(`
    select array_agg(a.attname::text order by a.attnum) as audited
    from pg_trigger t
    join pg_attribute a on a.attrelid = t.tgrelid and a.attnum = any (t.tgattr)
    where t.tgrelid = 'api_key'::regclass and t.tgname = 'audit_update'`);
  const [all] = await superuser.run(`
    select array_agg(attname::text order by attnum) as names
    from pg_attribute where attrelid = 'api_key'::regclass and attnum > 0 and not attisdropped`);
  const unaudited = ['expiry_reported_at', 'last_used_at', 'last_used_from', 'last_used_version', 'replaced_by'];
  expect(new Set([columns?.['audited'], unaudited].flat(2))).toEqual(new Set([all?.['names']].flat()));
});

test('a deletion by the owner writes an entry', async () => {
  await superuser.run(`delete from api_key`);
  await superuser.run(`delete from cost_bucket; delete from api_client`);
  expect(await summary()).toEqual(['null credential.delete k1', 'null client.delete portal']);
  // The entries of an account refer to it, so it stays until they are dropped.
  await expect(superuser.run(`delete from account`)).rejects.toThrow('foreign key constraint');
  await superuser.run('delete from audit_entry; delete from account');
  expect(await entries()).toMatchObject([
    {
      action: 'customer.delete',
      subject: 'Customer/2',
      account_id: null,
      interface: null,
      details: { old: { id: '2', name: 'Keystone' } },
    },
  ]);
});

test('no login can undo or move a revocation', async () => {
  await psql.run(`update api_key set revoked_at = '2026-11-21T00:00Z' where key_id = 'k1'`);
  for (const connection of [psql, superuser]) {
    for (const value of ['null', 'now()', `'2020-01-01Z'`]) {
      await expect(connection.run(`update api_key set revoked_at = ${value}`)).rejects.toThrow(
        /The key k1 has been revoked since 2026-11-21.*Issue another key\./,
      );
    }
  }
  await psql.run('update api_key set revoked_at = revoked_at');
  expect(await summary()).toEqual(['null credential.revoke k1']);
});

test('the command that a transaction claims is in its entries, and not in those of the next transaction', async () => {
  await psql.run(`begin; ${claimOf('ada')}; ${revoke}; commit`);
  await psql.run(`update account set name = 'x' where id = 2`);
  expect(await entries()).toEqual([revocationByAda, expect.objectContaining({ ...ofPsql, action: 'customer.update' })]);
});

const misleading = entryOfOperator('client.pin', 'other', 'eve');

const facts = {
  login: ofPsql.login,
  account_id: '2',
  interface: 'customer',
  action: 'credential.revoke',
  subject: 'k1',
};
const values = { clientId: 'portal', old: { revoked_at: null }, new: { revoked_at: expect.any(String) } };

test.each([
  ['before it', `${misleading}; ${revoke}`],
  ['in the same statement', `with change as (${revoke}) ${misleading}`],
  ['in a savepoint that is rolled back', `${revoke}; savepoint a; ${misleading}; rollback to a`],
  [
    'after a savepoint in which the change was rolled back',
    `savepoint a; ${revoke}; rollback to a; ${misleading}; ${revoke}`,
  ],
  [
    'and a setting without an actor',
    `select set_config('deedwire.audit_claim', '{"command": "x", "login": "root", "action": "x"}', true); ${revoke}`,
  ],
])('a misleading entry %s leaves the change without an actor', async (_name, statements) => {
  await psql.run(`begin; ${statements}; commit`);
  expect(await entries()).toEqual([
    { ...facts, actor_type: null, actor: null, address: null, request_id: null, details: values },
  ]);
});

test.each([
  ['after it', `${revoke}; ${misleading}`, 'eve', 'client.pin'],
  ['twice after it', `${revoke}; ${misleading}; ${entryOfOperator('credential.revoke', 'k1')}`, 'eve', 'client.pin'],
  ['after a change within a savepoint', `savepoint a; ${revoke}; release a; ${misleading}`, 'eve', 'client.pin'],
  [
    'and other settings',
    `${claimOf('mallory')}; ${revoke}; ${claimOf('ada')}; ${misleading}`,
    'mallory',
    'credential.revoke',
  ],
])('a misleading entry %s changes only what the client claims', async (_name, statements, actor, command) => {
  await psql.run(`begin; ${statements}; commit`);
  expect(await entries()).toEqual([
    {
      ...facts,
      actor_type: 'OPERATOR',
      actor,
      address: 'desk',
      request_id: 'run-1',
      details: { ...values, command },
    },
  ]);
});

test('a claim that is not JSON fails the change', async () => {
  const statements = [`set deedwire.audit_claim = 'not JSON'`, revoke];
  await psql.run(statements[0] ?? '');
  await expect(psql.run(statements[1] ?? '')).rejects.toThrow('invalid input syntax for type json');
  await psql.run('reset deedwire.audit_claim');
  expect(await superuser.run('select revoked_at from api_key')).toEqual([{ revoked_at: null }]);
});

test('another transaction of the same millisecond cannot claim the change', async () => {
  await psql.run(`begin; ${revoke}; commit`);
  await superuser.run(`update audit_entry set at = now() + interval '1 minute'`);
  await superuser.run(`begin`);
  await superuser.run(`update audit_entry set at = now()`);
  await superuser.run(entryOfOperator('credential.revoke', 'k1', 'eve'));
  await superuser.run(`commit`);
  expect(await summary()).toEqual(['null credential.revoke k1']);
});

test('an API can neither invent a change of a credential nor claim one', async () => {
  await psql.run(revoke);
  await customerApi.run(`
    insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
    values ('CLIENT', 'portal', 'credential.issue', 'k9', 2, 'customer')`);
  expect(await summary()).toEqual(['null credential.revoke k1']);
});

/** The actions that functions of the owner record. Those of audit_change() are a noun and a verb, and callers name those of audit_contact(). */
const recorded: Readonly<Record<string, readonly string[]>> = {
  audit_change: ['supplier.create', 'customer.update', 'client.create', 'credential.revoke'],
  audit_contact: ['contact_email.confirm', 'contact_email.erase', 'contact_email.unsubscribe'],
  audit_portal_session: ['portal_link.create', 'portal_session.end', 'portal_session.start'],
  begin_record_erasure: ['person.erase'],
  webhook_delete_unread_listeners: ['webhook_listener.expire'],
};

test('every function that records actions is known, with its actions', async () => {
  const found = await superuser.run(`
    select proname as name, array(
      select distinct a[1] from regexp_matches(prosrc, '''([a-z_]+[.][a-z_-]+)''', 'g') a where a[1] !~ '^(deedwire|public)' order by 1
    ) as actions
    from pg_proc
    where pronamespace = 'public'::regnamespace and prosrc ~ 'insert into [a-z.]*audit_entry'
    order by 1`);
  expect(found).toEqual(
    Object.entries(recorded).map(([name, actions]) => ({
      name,
      actions: name === 'audit_change' || name === 'audit_contact' ? [] : actions,
    })),
  );
  const nouns = await superuser.run(`
    select a[1] as noun from pg_proc, regexp_matches(prosrc, 'noun := ''([a-z_]+)''', 'g') a where proname = 'audit_change' order by 1`);
  expect(nouns).toEqual([{ noun: 'client' }, { noun: 'credential' }]);
});

test.each([
  ...Object.values(recorded).flat(),
  // What only commands of operators record.
  'organization.create',
  'secrets.rewrap',
  'database.advance-sequences',
  'cell.prune',
  'order.refund',
])('an API writes no entry with the action %s', async (action) => {
  const write = (actorType: string) =>
    customerApi
      .run(
        `insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
         values ('${actorType}', 'ada', $1, 's', 2, 'customer')`,
        [action],
      )
      .then(() => '', String);
  for (const actorType of ['CLIENT', 'OPERATOR'])
    expect(await write(actorType)).toMatch(/^$|violates row-level security policy/);
  expect(await entries()).toEqual([]);
});

test('an API writes no entry as an operator, or without an actor', async () => {
  for (const actorType of [`'OPERATOR'`, 'null']) {
    const insert = `insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
      values (${actorType}, 'ada', 'webhook_subscription.create', 's', 2, 'customer')`;
    await expect(customerApi.run(insert)).rejects.toThrow('violates row-level security policy');
  }
  expect(await entries()).toEqual([]);
});

test('objects of a role that may create some do not run with the rights of the owner', async () => {
  // As in a database in which a role may create objects in the schema, and in the temporary schema of a session.
  await superuser.run(`
    create function public.initcap(text) returns text language sql as $$ select 'spoofed' $$;
    create function public.jsonb_each_text(jsonb, out key text, out value text) returns setof record
      language sql as $$ select 'spoofed', 'spoofed' $$`);
  await psql.run(
    `create temporary table audit_entry (transaction_id xid8); create temporary table api_client (id bigint)`,
  );
  await psql.run(`update account set name = 'x' where id = 2; ${revoke}`);
  await psql.run('drop table pg_temp.audit_entry, pg_temp.api_client');
  await superuser.run('drop function public.initcap(text); drop function public.jsonb_each_text(jsonb)');
  expect(await summary()).toEqual(['null customer.update Customer/2', 'null credential.revoke k1']);
});

test.each([
  ['a long actor', { actor: 'x'.repeat(1_001) }],
  ['a long subject', { subject: 'x'.repeat(1_001) }],
  ['details that are no object', { details: 'null' }],
  ['large details', { details: JSON.stringify({ text: 'x'.repeat(40_000) }) }],
  ['an action that looks like another one', { action: 'Credential.revoke' }],
])('an API cannot add an entry with %s', async (_, changed) => {
  const added = { actor: 'client', subject: 'gid', details: '{}', action: 'webhook_subscription.create', ...changed };
  await expect(
    customerApi.run(
      `insert into audit_entry (actor_type, actor, action, subject, account_id, interface, details)
       select 'CLIENT', $1, $2, $3, id, interface, $4 from account where id = 2`,
      [added.actor, added.action, added.subject, added.details],
    ),
  ).rejects.toThrow('violates check constraint "audit_entry_is_readable"');
});

test('an entry contains the first 250 characters of a value, including of a column without a bound', async () => {
  await superuser.run('begin; alter table account drop constraint account_name_bounds');
  try {
    await superuser.run(`update account set name = repeat('x', 100000)`);
    expect(await entries()).toMatchObject([{ details: { old: { name: 'Keystone' }, new: { name: 'x'.repeat(250) } } }]);
  } finally {
    await superuser.run('rollback');
  }
});

const writeAction = (action: string) =>
  customerApi.run(
    `insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
     values ('CLIENT', 'client', $1, 's', 2, 'customer')`,
    [action],
  );

test('an API writes an entry with an action that clients take, or that is not registered', async () => {
  for (const action of ['order.place', 'order.read']) await writeAction(action);
  await superuser.run(`insert into audit_action values ('order.read', true, false)`);
  try {
    await expect(writeAction('order.read')).rejects.toThrow('violates row-level security policy');
  } finally {
    await superuser.run(`delete from audit_action where action = 'order.read'`);
  }
  expect(await summary()).toEqual(['client order.place s', 'client order.read s']);
});
