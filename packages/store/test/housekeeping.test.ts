import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createStore, type Store } from '../src/index.ts';
import {
  deleteExpiredIdempotencyKeys,
  maintainAuditLog,
  reportExpiringApiKeys,
} from '../src/processes/housekeeping.ts';
import { createServiceDatabase } from './support/database.ts';
import { seedAccount } from './support/seed.ts';

let database: TestDatabase;
let superuser: Connection;
let worker: Store;

beforeEach(async () => {
  database = await createServiceDatabase();
  superuser = await connect(database.databaseUrl);
  worker = createStore({ databaseUrl: await database.urlFor('webhook_worker'), applicationName: 'test' });
});

afterEach(async () => {
  await worker.close();
  await superuser.close();
  await database.drop();
});

async function partitions(): Promise<string[]> {
  const rows = await superuser.run(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entry'::regclass order by 1`,
  );
  return rows.map(({ name }) => String(name));
}

/** The partition of the month that is `offset` months from now. */
async function partitionOf(offset: number): Promise<string> {
  const [row] = await superuser.run(
    `select 'audit_entry_' || to_char((now() at time zone 'UTC') + make_interval(months => $1), 'YYYY_MM') as name`,
    [offset],
  );
  return String(row?.['name']);
}

const insertEntry = (at: string, subject: string) =>
  superuser.run(
    `insert into audit_entry (at, actor_type, actor, action, subject) values (${at}, 'OPERATOR', 'ada', 'order.place', $1)`,
    [subject],
  );
const subjects = async () =>
  (await superuser.run('select subject from audit_entry order by subject')).map(({ subject }) => subject);

test('the worker deletes idempotency keys after 24 hours, in batches, and cannot read them', async () => {
  const admin = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  const account = await seedAccount(admin, 'customer');
  await superuser.run(
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, created_at)
     select $1, 'customer', 'm', n::text, '', gen_random_uuid(), now(), now() - make_interval(hours => 20 + n, mins => 30)
     from generate_series(1, 10) n`,
    [account.id],
  );
  expect(await deleteExpiredIdempotencyKeys(worker, 4)).toBe(4);
  expect(await deleteExpiredIdempotencyKeys(worker, 4)).toBe(3);
  expect(await deleteExpiredIdempotencyKeys(worker, 4)).toBe(0);
  expect(await superuser.run('select key from idempotency_key order by key')).toEqual([
    { key: '1' },
    { key: '2' },
    { key: '3' },
  ]);
  await expect(worker.query({ name: 'read', text: 'select from idempotency_key' }, [])).rejects.toThrow(
    'permission denied',
  );
  await admin.close();
});

async function reportExpiring(): Promise<{ reported: number; notified: unknown[] }> {
  const notified: unknown[] = [];
  const reported = await worker.transaction((transaction) =>
    reportExpiringApiKeys({ ...transaction, notifyAfterCommit: (shard) => void notified.push(shard) }, 10),
  );
  return { reported, notified };
}

test('keys that will expire notify the worker of their account once', async () => {
  const admin = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  const account = await seedAccount(admin, 'customer');
  await admin.close();
  await superuser.run(
    `with client as (
       insert into api_client (account_id, interface, client_id, schema_version)
       values ($1, 'customer', 'crm', '2026-11-01')
       returning id
     )
     insert into api_key (key_id, api_client_id, interface, key_hash, created_at, expires_at)
     select name, id, 'customer', sha256(''), now() - interval '100 days', now() + interval '6 days'
     from client, unnest(array['one', 'two']) as name`,
    [account.id],
  );
  const first = await reportExpiring();
  const queued = await superuser.run('select distinct shard::text as shard from webhook_event_queue');
  expect(first).toEqual({ reported: 2, notified: queued.map(({ shard }) => shard) });
  expect(await reportExpiring()).toEqual({ reported: 0, notified: [] });
});

test('retention creates the next partitions and drops those whose entries are all too old', async () => {
  const current = [await partitionOf(0), await partitionOf(1), await partitionOf(2)];
  expect(await partitions()).toEqual([...current, 'audit_entry_default']);

  await superuser.run(`drop table ${current[2] ?? ''}`);
  await superuser.run(
    `create table audit_entry_2026_01 partition of audit_entry for values from ('2026-01-01Z') to ('2026-02-01Z')`,
  );
  await insertEntry(`'2026-01-15Z'`, 'old');
  await insertEntry(`now() - interval '200 days'`, 'default, kept');
  await insertEntry(`now() - interval '400 days'`, 'default, old');
  await insertEntry('now()', 'new');
  expect(await maintainAuditLog(worker, 250)).toEqual([
    { created: current[2], dropped: null },
    { created: null, dropped: 'audit_entry_2026_01' },
  ]);
  expect(await subjects()).toEqual(['default, kept', 'new']);
  expect(await partitions()).toEqual([...current, 'audit_entry_default']);
  expect(await maintainAuditLog(worker, 250)).toEqual([]);
});

test('a month whose entries are in the default partition stays there', async () => {
  const next = await partitionOf(2);
  await superuser.run(`drop table ${next}`);
  await insertEntry(`now() + interval '2 months'`, 'early');
  expect(await maintainAuditLog(worker, 400)).toEqual([]);
  expect(await subjects()).toEqual(['early']);
});

test('no app can drop entries of the last 90 days', async () => {
  await expect(maintainAuditLog(worker, 89)).rejects.toThrow('at least 90 days, not 89');
  const supplier = createStore({ databaseUrl: await database.urlFor('supplier_api'), applicationName: 'test' });
  await expect(maintainAuditLog(supplier, 400)).rejects.toThrow('permission denied');
  await supplier.close();
});
