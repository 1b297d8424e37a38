import { testService } from '@deedwire/core/test-service';
import { connect, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createStore } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';
import { openLogins } from './support/logins.ts';
import { seedAccount } from './support/seed.ts';

// What a stolen login of an interface can do with keys.
const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const logins = await forFile(openLogins(database, testService));
const [supplier, customer] = [await seedAccount(admin, 'supplier'), await seedAccount(admin, 'customer')];

const usual = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'WRITE'];
const manager = ['READ', 'MANAGE_KEYS'];

async function addKey(account: typeof supplier, keyId: string, abilities: string[], client = keyId): Promise<void> {
  await superuser.run(
    `insert into api_client (account_id, interface, client_id, schema_version) values ($1, $2, $3, '2026-11-01')
     on conflict do nothing`,
    [account.id, account.interfaceName, client],
  );
  await superuser.run(
    `insert into api_key (key_id, api_client_id, interface, key_hash, abilities)
     select $1, id, interface, sha256(''), $2 from api_client where client_id = $3`,
    [keyId, abilities, client],
  );
}

beforeAll(async () => {
  await addKey(supplier, 'manager', manager);
  await addKey(supplier, 'usual', usual);
  await addKey(supplier, 'ofManager', usual, 'manager');
  await addKey(customer, 'foreign', manager);
});

const run = (statement: string, values: readonly unknown[] = []) => logins.of('supplier_api').run(statement, values);

/** What the function answers to the login of the suppliers. */
async function issue(acting: {
  key?: string;
  session?: string;
  client?: string;
  replaced?: string;
  abilities?: readonly string[];
}): Promise<unknown> {
  const { key = null, session = null, client = null, replaced = null, abilities = ['READ'] } = acting;
  const [row] = await run(
    `select issue_api_key($1, $2, (select id from api_client where client_id = $3), $4, $6, left(replace(gen_random_uuid()::text, '-', ''), 12),
       sha256('x'), 'x', $5, null, null) as problem`,
    [key, session, client, replaced, abilities, replaced === null ? null : 0],
  );
  return row?.['problem'];
}

async function revoke(key: string | null, revoked: string): Promise<unknown> {
  const [row] = await run('select revoke_api_key($1, null, $2) as problem', [key, revoked]);
  return row?.['problem'];
}

const keysOf = (client: string) =>
  superuser.run(
    `select k.* from api_key k join api_client c on c.id = k.api_client_id where c.client_id = $1 order by k.created_at`,
    [client],
  );

describe('a login of an interface', () => {
  test.each([
    [
      `insert into api_key (key_id, api_client_id, interface, key_hash) select 'x', id, interface, sha256('') from api_client`,
    ],
    [`update api_key set abilities = '{READ,MANAGE_KEYS}'`],
    [`update api_key set addresses = null`],
    [`update api_key set revoked_at = null, expires_at = null`],
    [`update api_key set created_by_key = 'x'`],
    [`update api_key set expiry_reported_at = now()`],
    ['delete from api_key'],
    ['update installation set key_self_service = true'],
    ['select forget_ended_api_keys(10)'],
    ['select report_expiring_api_keys(10)'],
    [`select * from acting_on_keys('manager', null)`],
  ])('cannot run: %s', async (statement) => {
    await expect(run(statement)).rejects.toThrow('permission denied');
  });

  test('cannot act as an operator, as a key that may not manage keys, or as one of another interface', async () => {
    expect(await issue({})).toBe('REFUSED');
    expect(await issue({ client: 'usual' })).toBe('REFUSED');
    expect(await issue({ key: 'usual' })).toBe('REFUSED');
    expect(await issue({ key: 'foreign' })).toBe('REFUSED');
    expect(await issue({ key: 'nobody' })).toBe('REFUSED');
    expect(await issue({ session: '1', key: 'manager' })).toBe('REFUSED');
    expect(await revoke(null, 'usual')).toBe('REFUSED');
    expect(await revoke('foreign', 'usual')).toBe('REFUSED');
  });

  test('gets no more than the key as which it acts has, for its client only', async () => {
    expect(await issue({ key: 'manager', abilities: usual })).toBe('ABILITIES_INVALID');
    expect(await issue({ key: 'manager', replaced: 'ofManager', abilities: usual })).toBe('ABILITIES_INVALID');
    expect(await issue({ key: 'manager', replaced: 'usual' })).toBe('NOT_FOUND');
    expect(await revoke('manager', 'usual')).toBe('NOT_FOUND');
    expect(await issue({ key: 'manager', client: 'usual' })).toBeNull();
    expect(await keysOf('usual')).toHaveLength(1);
    expect((await keysOf('manager')).at(-1)).toMatchObject({ abilities: ['READ'], created_by_key: 'manager' });
  });

  test.each([
    ['no abilities', { abilities: null }],
    ['an ability that is null', { abilities: ['READ', null] }],
    ['an address that is null', { addresses: ['192.0.2.0/24', null] }],
    ['no id', { id: null }],
    ['an id of another form', { id: 'a\nb' }],
    ['no hash', { hash: null }],
    ['no name', { name: null }],
    ['an overlap of nothing', { overlap: 60 }],
    ['a replaced key without an overlap', { replaced: 'ofManager' }],
    ['a negative overlap', { replaced: 'ofManager', overlap: -1 }],
    ['an overlap of a year', { replaced: 'ofManager', overlap: 31_536_000 }],
  ])('cannot pass %s', async (_, change) => {
    const { replaced, overlap, id, hash, name, abilities, addresses } = {
      replaced: null,
      overlap: null,
      id: 'abcdefghijkl',
      hash: Buffer.alloc(32),
      name: 'x',
      abilities: ['READ'],
      addresses: null,
      ...change,
    };
    const values = ['manager', replaced, overlap, id, hash, name, abilities, addresses];
    const call = run('select issue_api_key($1, null, null, $2, $3, $4, $5, $6, $7, $8, null) as problem', values);
    await expect(call).rejects.toThrow('The arguments of a key are invalid.');
  });

  test('cannot give a key without abilities those of a usual one', async () => {
    const insert = superuser.run(
      `insert into api_key (key_id, api_client_id, interface, key_hash, abilities)
       select 'nullAbility0', id, interface, sha256(''), null from api_client where client_id = 'manager'`,
    );
    await expect(insert).rejects.toThrow('null value in column "abilities"');
  });

  test('reports each key that it makes, whatever its app does', async () => {
    await superuser.run('delete from webhook_event_queue; delete from webhook_event');
    expect(await issue({ key: 'manager' })).toBeNull();
    const [event] = await superuser.run('select account_id, event_type, snapshot from webhook_event');
    expect(event).toMatchObject({ account_id: supplier.id, event_type: 'api_key.created' });
    expect(event?.['snapshot']).toMatchObject({ createdBy: { apiKeyId: 'manager', portalActor: null } });
  });

  test('locks nothing of another interface', async () => {
    await run('begin');
    expect(await revoke('manager', 'foreign')).toBe('NOT_FOUND');
    const locked = superuser.run(`select from api_client where client_id = 'foreign' for update nowait`);
    expect(await locked).toHaveLength(1);
    await run('rollback');
  });

  test('names the key as which it acts in the audit log, whatever it claims', async () => {
    await run('begin');
    await run(`select set_config('deedwire.audit_claim', $1, true)`, [
      JSON.stringify({ actor: 'ada', client: 'usual', keyId: 'usual', address: '192.0.2.1', portal: { actor: 'eve' } }),
    ]);
    expect(await issue({ key: 'manager' })).toBeNull();
    await run('commit');
    const [entry] = await superuser.run('select * from audit_entry order by number desc limit 1');
    expect(entry).toMatchObject({
      action: 'credential.issue',
      actor_type: 'CLIENT',
      actor: 'manager',
      address: '192.0.2.1',
    });
    expect(entry?.['details']).toMatchObject({ keyId: 'manager', clientId: 'manager' });
    expect(entry?.['details']).not.toHaveProperty('portal');
  });

  test('names no client in the entry of another change', async () => {
    await run('begin');
    await run(`select set_config('deedwire.audit_claim', $1, true)`, [
      JSON.stringify({ client: 'usual', accountId: String(supplier.id) }),
    ]);
    await run(`update api_key set last_used_at = now(), last_used_from = '192.0.2.1', last_used_version = 'x'`);
    // Creates the client of the portal.
    await run(
      `insert into portal_session (account_id, interface, key_id, abilities, actor, link_hash, expires_at)
       values ($1, 'supplier', 'manager', '{READ}', 'a', sha256('link'), now() + interval '1 minute')`,
      [supplier.id],
    );
    await run('commit');
    const entries = await superuser.run(`select action, subject from audit_entry where actor = 'usual'`);
    expect(entries.map(({ action }) => action)).toEqual(['portal_link.create']);
    const created = await superuser.run(`select actor from audit_entry where subject = $1`, [
      `portal_supplier_${supplier.id}`,
    ]);
    expect(created).toEqual([{ actor: null }]);
  });
});

/** Runs `call` while another transaction has the lock of the client, which changes something before it ends. */
async function afterChange(change: string, call: () => Promise<unknown>): Promise<unknown> {
  await superuser.run('begin');
  await superuser.run(`select from api_client where client_id = 'manager' for no key update`);
  const answer = call();
  await untilBlocked(superuser, 1);
  await superuser.run(change);
  await superuser.run('commit');
  return answer;
}

describe('requests that wait for a change of the keys of their client', () => {
  beforeEach(async () => {
    await superuser.run(`delete from api_key where created_by_key is not null`);
  });

  test('is refused if the acting key was revoked or has expired meanwhile', async () => {
    await addKey(supplier, 'leaked', manager, 'manager');
    const revoked = `update api_key set revoked_at = now() where key_id = 'leaked'`;
    expect(await afterChange(revoked, () => issue({ key: 'leaked' }))).toBe('REFUSED');
    await addKey(supplier, 'expiring', manager, 'manager');
    const expired = `update api_key set expires_at = date_trunc('milliseconds', clock_timestamp()) where key_id = 'expiring'`;
    expect(await afterChange(expired, () => revoke('expiring', 'ofManager'))).toBe('REFUSED');
  });

  test('is refused if self-service was switched off meanwhile', async () => {
    const off = 'update installation set key_self_service = false';
    expect(await afterChange(off, () => issue({ key: 'manager' }))).toBe('KEY_SELF_SERVICE_OFF');
    expect(await revoke('manager', 'ofManager')).toBe('KEY_SELF_SERVICE_OFF');
    await superuser.run('update installation set key_self_service = true');
  });

  test('replaces a key by one with the end that the key has by then', async () => {
    await addKey(supplier, 'old', ['READ'], 'manager');
    const limited = `update api_key set expires_at = now() + interval '1 hour' where key_id = 'old'`;
    expect(await afterChange(limited, () => issue({ key: 'manager', replaced: 'old' }))).toBeNull();
    const [successor] = await superuser.run(`select expires_at from api_key where created_by_key = 'manager'`);
    expect(successor?.['expires_at']).toBeInstanceOf(Date);
  });
});

test('a rotation by an app that does not know addresses is refused', async () => {
  await superuser.run(`update api_key set addresses = '{192.0.2.0/24}' where key_id = 'usual'`);
  const operator = logins.of('operator');
  await operator.run('begin');
  await operator.run(`update api_key set expires_at = now() + interval '1 day' where key_id = 'usual'`);
  const rotation = operator.run(
    `insert into api_key (key_id, api_client_id, interface, key_hash, abilities)
     select 'new', api_client_id, interface, sha256(''), abilities from api_key where key_id = 'usual'`,
  );
  await expect(rotation).rejects.toThrow('The key has addresses, which this release does not know.');
  await operator.run('rollback');
});
