import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ability, type RecordId, toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { issueApiKey, revokeApiKey } from '../src/accounts/credentials.ts';
import {
  endAllPortalSessions,
  endPortalSession,
  endReplacedPortalSessions,
  insertPortalLink,
  type NewPortalLink,
  selectPortalLink,
  selectPortalSession,
  selectPortalSessions,
  startPortalSession,
  updatePortalSessionUse,
} from '../src/accounts/portal-sessions.ts';
import { createStore, type Database } from '../src/index.ts';
import { deleteExpiredPortalSessions } from '../src/processes/housekeeping.ts';
import { createServiceDatabase } from './support/database.ts';
import { explain, indexes, rowsRead, scanned } from './support/explain.ts';
import { openLogins } from './support/logins.ts';
import { seedAccount } from './support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const worker = await forFile(
  createStore({ databaseUrl: await database.urlFor('webhook_worker'), applicationName: 'test' }),
);
const logins = await forFile(openLogins(database, testService));
const supplierApi = await forFile(
  createStore({ databaseUrl: await database.urlFor('supplier_api'), applicationName: 'test' }),
);
const [own, other] = [await seedAccount(admin, 'supplier'), await seedAccount(admin, 'supplier')];
const customer = await seedAccount(admin, 'customer');

async function issueKey(account: typeof own): Promise<string> {
  await superuser.run(
    `with client as (
       insert into api_client (account_id, interface, client_id, schema_version) values ($1, $2, $3, '2026-11-01') returning id
     )
     insert into api_key (key_id, api_client_id, interface, key_hash) select $3, id, $2, sha256('') from client`,
    [account.id, account.interfaceName, `key-${account.id}`],
  );
  return `key-${account.id}`;
}
const [ownKey, otherKey] = [await issueKey(own), await issueKey(other)];

const hashOf = (text: string): Buffer => Buffer.alloc(32, text);

const link = (change: Partial<NewPortalLink> = {}): NewPortalLink => ({
  accountId: own.id,
  interfaceName: 'supplier',
  keyId: ownKey,
  abilities: ['READ'],
  actor: 'a',
  returnUrl: null,
  subscriptionId: null,
  linkHash: hashOf('link'),
  expiresInSeconds: 60,
  invite: null,
  ...change,
});

beforeEach(async () => {
  await superuser.run('delete from portal_session');
});

test('the first link of an account creates the client of the portal, which the audit log has', async () => {
  const links = Array.from({ length: 5 }, (_, index) =>
    insertPortalLink(admin, link({ linkHash: hashOf(`${index}`) }), 100),
  );
  await Promise.all(links);
  const clientId = `portal_supplier_${own.id}`;
  expect(await superuser.run('select schema_version from api_client where client_id = $1', [clientId])).toEqual([
    { schema_version: 'portal' },
  ]);
  expect(await superuser.run('select action from audit_entry where subject = $1', [clientId])).toEqual([
    { action: 'client.create' },
  ]);
  expect(
    await superuser.run(`select from cost_bucket b join api_client c on c.id = b.api_client_id where client_id = $1`, [
      clientId,
    ]),
  ).toHaveLength(1);
});

const insert = (values: string, expiresAt = `now() + interval '1 year'`, token = 'x', abilities = 'READ') =>
  logins.of('supplier_api').run(
    `insert into portal_session (account_id, interface, key_id, abilities, actor, link_hash, expires_at)
     values (${values}, '{${abilities}}', 'a', sha256('${token}'), ${expiresAt})`,
  );

const start = (expiresAt: string): string => `update portal_session
  set token_hash = sha256('t'), started_at = ${expiresAt}, last_used_at = ${expiresAt}, expires_at = ${expiresAt}`;

async function startSession(): Promise<void> {
  await insert(`${own.id}, 'supplier', '${ownKey}'`);
  await logins.of('supplier_api').run(start(`now() + interval '1 hour'`));
}

describe('a login of an interface', () => {
  test.each([
    ['without a key', `${own.id}, 'supplier', null`],
    ['with the key of another account', `${own.id}, 'supplier', '${otherKey}'`],
    ['of the other interface', `${customer.id}, 'customer', '${ownKey}'`],
    ['of an account of the other interface', `${customer.id}, 'supplier', '${ownKey}'`],
  ])('creates no link %s', async (_, values) => {
    await expect(insert(values)).rejects.toThrow(/has no key|violates row-level security/);
    expect(await superuser.run(`select from api_client where client_id like 'portal_customer%'`)).toEqual([]);
  });

  test('creates no link with an ability that the key of the link does not have', async () => {
    await superuser.run(`update api_key set abilities = '{READ,OPERATE}' where key_id = $1`, [ownKey]);
    onTestFinished(async () => {
      await superuser.run(`update api_key set abilities = '{READ,READ_PAYLOAD,OPERATE,CONFIGURE,WRITE}'`);
    });
    const create = (abilities: string) => insert(`${own.id}, 'supplier', '${ownKey}'`, undefined, undefined, abilities);
    await create('READ,OPERATE');
    for (const abilities of ['READ,READ_PAYLOAD', 'READ,OPERATE,READ_PAYLOAD,CONFIGURE'])
      await expect(create(abilities)).rejects.toThrow(`The link has abilities that its key ${ownKey} does not have.`);
  });

  test('makes no link longer than 10 minutes, and no session longer than 8 hours', async () => {
    await insert(`${own.id}, 'supplier', '${ownKey}'`);
    const lifetime = `select round(extract(epoch from expires_at - now()) / 60)::int as minutes from portal_session`;
    expect(await superuser.run(lifetime)).toEqual([{ minutes: 10 }]);
    await logins.of('supplier_api').run(start(`now() + interval '1 year'`));
    expect(await superuser.run(lifetime)).toEqual([{ minutes: 480 }]);
    expect(await superuser.run('select from portal_session where greatest(started_at, last_used_at) > now()')).toEqual(
      [],
    );
  });

  test('cannot use a session before now', async () => {
    await startSession();
    await logins.of('supplier_api').run(`update portal_session set last_used_at = now() + interval '1 year'`);
    // Times are rounded to milliseconds, perhaps up.
    const later = await superuser.run(`select from portal_session where last_used_at > now() + interval '1 second'`);
    expect(later).toEqual([]);
  });

  test.each([
    ['take over a session', `token_hash = sha256('other')`],
    ['make a link of a session again', 'token_hash = null, started_at = null, last_used_at = null'],
    ['start a session again', `started_at = now() + interval '1 day'`],
    ['prolong a session', `expires_at = expires_at + interval '1 minute'`],
    ['say that a session ends that lives', `expires_at = expires_at - interval '1 millisecond'`],
    ['end a session later', `expires_at = now() + interval '1 second'`],
  ])('cannot %s', async (_, change) => {
    await startSession();
    await expect(logins.of('supplier_api').run(`update portal_session set ${change}`)).rejects.toThrow('can only end');
  });

  test('cannot prolong a link', async () => {
    await insert(`${own.id}, 'supplier', '${ownKey}'`, `now() + interval '1 minute'`);
    const prolong = `update portal_session set expires_at = now() + interval '2 minutes'`;
    await expect(logins.of('supplier_api').run(prolong)).rejects.toThrow('can only end');
    await expect(logins.of('operator').run(prolong)).rejects.toThrow('can only end');
  });

  test('cannot revive a session that has ended', async () => {
    await startSession();
    await logins.of('supplier_api').run(`update portal_session set expires_at = date_trunc('milliseconds', now())`);
    for (const change of [
      `expires_at = now() + interval '1 hour'`,
      'last_used_at = now()',
      'expires_at = now()',
      `token_hash = sha256('other')`,
    ])
      await expect(logins.of('supplier_api').run(`update portal_session set ${change}`)).rejects.toThrow('has ended');
    const revive = `update portal_session set expires_at = now() + interval '1 hour'`;
    await expect(logins.of('operator').run(revive)).rejects.toThrow('has ended');
  });

  test('cannot revive a session that is idle, with any column', async () => {
    await startSession();
    await superuser.run(`update portal_session set last_used_at = now() - interval '30 minutes'`);
    for (const change of [
      'last_used_at = now()',
      `last_used_at = now() + interval '1 year'`,
      `last_used_at = now(), expires_at = now() + interval '1 minute'`,
      `expires_at = expires_at + interval '1 minute'`,
      `token_hash = sha256('other')`,
      'token_hash = null, started_at = null, last_used_at = null',
      'started_at = now()',
    ])
      await expect(logins.of('supplier_api').run(`update portal_session set ${change}`)).rejects.toThrow('has ended');
    const shorten = `update portal_session set expires_at = expires_at - interval '1 millisecond'`;
    await expect(logins.of('supplier_api').run(shorten)).rejects.toThrow('can only end');
    // Which the apps do.
    await logins.of('operator').run('update portal_session set expires_at = now()');
  });

  test.each([
    ['a link', () => insert(`${own.id}, 'supplier', '${ownKey}'`)],
    ['a session', startSession],
  ])('ends %s once, with one entry of the audit log, whenever its transaction began', async (_, create) => {
    await create();
    await superuser.run('delete from audit_entry');
    const late = logins.of('operator');
    await late.run('begin');
    // The end is rounded down to milliseconds: in the same one, the session would have ended before this transaction began.
    await late.run('select now(), pg_sleep(0.002)');
    // As the database may round now().
    const end = `update portal_session set expires_at = date_trunc('milliseconds', now()) + interval '1 millisecond'`;
    await logins.of('supplier_api').run(end);
    await expect(logins.of('supplier_api').run(end)).rejects.toThrow('has ended');
    await late.run('update portal_session set expires_at = now()');
    await late.run('commit');
    expect(await superuser.run('select action from audit_entry')).toEqual([{ action: 'portal_session.end' }]);
  });

  test('cannot create, start or end a session without an entry of the audit log', async () => {
    await superuser.run(`delete from audit_entry`);
    await startSession();
    await logins.of('supplier_api').run('update portal_session set last_used_at = now()');
    await logins.of('supplier_api').run('update portal_session set expires_at = now()');
    const entries = `select action, actor_type, actor, account_id, details,
      transaction_id is not null as "isFact", subject = 'PortalSession/' || (select id from portal_session) as "isOfSession"
      from audit_entry where action like 'portal%' order by number`;
    const entry = { actor_type: null, actor: null, account_id: own.id, isFact: true, isOfSession: true };
    expect(await superuser.run(entries)).toMatchObject([
      { ...entry, action: 'portal_link.create', details: { actor: 'a', abilities: ['READ'] } },
      { ...entry, action: 'portal_session.start', details: { actor: 'a' } },
      { ...entry, action: 'portal_session.end', details: { actor: 'a' } },
    ]);
  });

  test('is no operator in the entries of its sessions, and no client in those of another account', async () => {
    await superuser.run(`delete from audit_entry`);
    const claims = [
      { actor: 'ada' },
      { client: 'c', accountId: other.id, portal: {} },
      { client: 'c', accountId: own.id },
    ];
    const login = logins.of('supplier_api');
    for (const [index, claim] of claims.entries()) {
      await login.run('begin');
      await login.run(`select set_config('deedwire.audit_claim', '${JSON.stringify(claim)}', true)`);
      await insert(`${own.id}, 'supplier', '${ownKey}'`, 'now()', `${index}`);
      await login.run('commit');
    }
    // An entry that the login writes sets no actor in the entries of the triggers.
    await login.run('begin');
    await insert(`${own.id}, 'supplier', '${ownKey}'`, 'now()', 'merged');
    await login.run(
      `insert into audit_entry (account_id, interface, actor_type, actor, action, subject)
       values ($1, 'supplier', 'CLIENT', 'ada', 'client.anything', 'x')`,
      [own.id],
    );
    await login.run('commit');
    const named = `select actor_type, actor from audit_entry where action = 'portal_link.create' order by number`;
    expect(await superuser.run(named)).toEqual([
      { actor_type: null, actor: null },
      { actor_type: null, actor: null },
      { actor_type: 'CLIENT', actor: 'c' },
      { actor_type: null, actor: null },
    ]);
  });

  test('is no operator in the entry of the client that its first link creates', async () => {
    const account = await seedAccount(admin, 'supplier');
    const key = await issueKey(account);
    await superuser.run('delete from audit_entry');
    const login = logins.of('supplier_api');
    await login.run(`begin; select set_config('deedwire.audit_claim', '{"actor": "ada"}', true)`);
    await insert(`${account.id}, 'supplier', '${key}'`);
    await login.run('commit');
    expect(await superuser.run('select action, actor_type, actor from audit_entry order by number')).toEqual([
      { action: 'client.create', actor_type: null, actor: null },
      { action: 'portal_link.create', actor_type: null, actor: null },
    ]);
  });
});

const clientOf = async (keyId: string): Promise<RecordId<'ApiClient'>> => {
  const [row] = await superuser.run('select api_client_id::text as id from api_key where key_id = $1', [keyId]);
  return toRecordId(String(row?.['id']));
};

const issue = (
  api: Database,
  sessionId: RecordId<'PortalSession'>,
  { keyId = 'madeByInvite', abilities = ['READ', 'WRITE'] }: { keyId?: string; abilities?: Ability[] } = {},
) =>
  issueApiKey(
    api,
    { keyId: null, sessionId },
    { apiClientId: null, replaced: null },
    { keyId, keyHash: hashOf(keyId), name: 'a', abilities, addresses: null, expiresAt: null },
  );

describe('an invite', async () => {
  const operator = await forFile(
    createStore({ databaseUrl: await database.urlFor('operator'), applicationName: 'test' }),
  );
  const customerApi = await forFile(
    createStore({ databaseUrl: await database.urlFor('customer_api'), applicationName: 'test' }),
  );
  const day = 86_400;
  const [ownClient, otherClient] = [await clientOf(ownKey), await clientOf(otherKey)];
  const ofClient = (apiClientId: RecordId<'ApiClient'>, change: Partial<NewPortalLink> = {}): NewPortalLink =>
    link({
      keyId: null,
      abilities: ['READ', 'MANAGE_KEYS'],
      expiresInSeconds: day,
      invite: { apiClientId, abilities: ['READ', 'WRITE'] },
      ...change,
    });
  const invite = async (change: Partial<NewPortalLink> = {}): Promise<RecordId<'PortalSession'>> => {
    const inserted = await insertPortalLink(operator, ofClient(ownClient, change), 100);
    return inserted?.id ?? missing();
  };
  const minutesLeft = 'select round(extract(epoch from expires_at - now()) / 60)::int as minutes from portal_session';

  beforeEach(async () => {
    await superuser.run('delete from api_key where key_id <> all ($1)', [[ownKey, otherKey]]);
  });

  test('lives 7 days at most, where other links of an operator live 10 minutes, and its session 8 hours', async () => {
    const id = await invite({ expiresInSeconds: 30 * day });
    await insertPortalLink(operator, link({ keyId: null, linkHash: hashOf('l'), expiresInSeconds: day }), 100);
    expect(await superuser.run(`${minutesLeft} order by id`)).toEqual([{ minutes: 7 * 24 * 60 }, { minutes: 10 }]);
    await startPortalSession(supplierApi, id, hashOf('t'));
    expect(await superuser.run(`${minutesLeft} where id = ${id}`)).toEqual([{ minutes: 480 }]);
  });

  test('cannot be created, changed or made longer by a login of an interface', async () => {
    const { invite: named, ...rest } = ofClient(ownClient);
    await expect(insertPortalLink(supplierApi, { ...rest, invite: named }, 100)).rejects.toThrow('permission denied');
    await expect(insertPortalLink(supplierApi, { ...rest, invite: null, keyId: ownKey }, 100)).rejects.toThrow(
      `The link has abilities that its key ${ownKey} does not have.`,
    );
    await invite({ expiresInSeconds: 3_600 });
    for (const change of ['invited_client_id = null, invited_abilities = null', `invited_abilities = '{READ}'`])
      await expect(logins.of('supplier_api').run(`update portal_session set ${change}`)).rejects.toThrow(
        'permission denied',
      );
    await expect(
      logins.of('supplier_api').run(`update portal_session set expires_at = expires_at + interval '1 hour'`),
    ).rejects.toThrow('can only end');
  });

  test.each<[string, () => Partial<NewPortalLink>]>([
    ['for the client of another account', () => ofClient(otherClient)],
    ['with a further ability', () => ({ abilities: ['READ', 'OPERATE', 'MANAGE_KEYS'] })],
    ['with a key', () => ({ keyId: ownKey })],
    ['without a client', () => ({ invite: null })],
    ['with abilities that no key can have', () => ({ invite: { apiClientId: ownClient, abilities: ['WRITE'] } })],
  ])('is refused %s, to an operator too', async (_, change) => {
    await expect(invite(change())).rejects.toThrow(/cannot invite to the keys|violates check|does not have/);
  });

  test('is refused for the client of the portal', async () => {
    await insertPortalLink(operator, link({ keyId: null, linkHash: hashOf('l') }), 100);
    const [row] = await superuser.run(`select id from api_client where client_id = 'portal_supplier_${own.id}'`);
    await expect(invite(ofClient(toRecordId(String(row?.['id']))))).rejects.toThrow('cannot invite to the keys');
  });

  test('makes keys of its client with its abilities at most, once it has started', async () => {
    const id = await invite();
    expect(await issue(supplierApi, id)).toBe('REFUSED');
    await startPortalSession(supplierApi, id, hashOf('t'));
    expect(await issue(supplierApi, id, { abilities: ['READ', 'MANAGE_KEYS'] })).toBe('ABILITIES_INVALID');
    expect(await issue(supplierApi, id)).toBeNull();
    expect(await superuser.run(`select * from api_key where key_id = 'madeByInvite'`)).toMatchObject([
      { api_client_id: ownClient, created_by_key: null, created_by_actor: 'a', abilities: ['READ', 'WRITE'] },
    ]);
  });

  test('manages nothing for the login of another interface, once it is idle, or once it has ended', async () => {
    const id = await invite();
    await startPortalSession(supplierApi, id, hashOf('t'));
    expect(await issue(customerApi, id)).toBe('REFUSED');
    expect(await revokeApiKey(supplierApi, { keyId: null, sessionId: id }, otherKey)).toBe('NOT_FOUND');
    await superuser.run(`update portal_session set last_used_at = now() - interval '30 minutes'`);
    expect(await issue(supplierApi, id)).toBe('REFUSED');
    const ended = await invite({ linkHash: hashOf('l') });
    await startPortalSession(supplierApi, ended, hashOf('u'));
    await endPortalSession(operator, ended);
    expect(await issue(supplierApi, ended)).toBe('REFUSED');
  });

  test('makes 20 keys a day', async () => {
    const id = await invite();
    await startPortalSession(supplierApi, id, hashOf('t'));
    for (let count = 1; count <= 20; count += 1) {
      const keyId = `madeByInvi${String(count).padStart(2, '0')}`;
      expect(await issue(supplierApi, id, { keyId })).toBeNull();
      await superuser.run('update api_key set revoked_at = now() where key_id = $1', [keyId]);
    }
    expect(await issue(supplierApi, id, { keyId: 'madeByInvi21' })).toBe('DAILY_LIMIT_REACHED');
  });

  test('is named in the entries of the audit log, with its client', async () => {
    const [client] = await superuser.run('select client_id from api_client where id = $1', [ownClient]);
    await superuser.run('delete from audit_entry');
    const id = await invite();
    await startPortalSession(supplierApi, id, hashOf('t'));
    expect(await issue(supplierApi, id)).toBeNull();
    const entries = await superuser.run('select action, actor_type, details from audit_entry order by number');
    const of = { actor: 'a', clientId: client?.['client_id'] };
    expect(entries).toMatchObject([
      { action: 'portal_link.create', details: { ...of, keyAbilities: ['READ', 'WRITE'] } },
      { action: 'portal_session.start', details: of },
      {
        action: 'credential.issue',
        actor_type: 'CLIENT',
        details: { portal: { actor: 'a', sessionId: `PortalSession/${id}` } },
      },
    ]);
  });

  test('ends with all sessions and links, even while it was not used', async () => {
    await invite();
    const count = await endAllPortalSessions(operator);
    expect([count, await superuser.run('select from portal_session where expires_at > now()')]).toEqual([1, []]);
  });

  test('is listed while it was not used, and as a session', async () => {
    const id = await invite();
    await insertPortalLink(operator, link({ keyId: null, linkHash: hashOf('l') }), 100);
    const list = () => selectPortalSessions(operator, own.id, { afterId: null, limit: 21 });
    const [client] = await superuser.run('select client_id from api_client where id = $1', [ownClient]);
    const invited = { id, keyClient: client?.['client_id'], invitedAbilities: ['READ', 'WRITE'] };
    expect(await list()).toMatchObject([{ ...invited, startedAt: null, lastUsedAt: null }]);
    await startPortalSession(supplierApi, id, hashOf('t'));
    expect(await list()).toMatchObject([{ ...invited, startedAt: expect.any(Date) }]);
    await endPortalSession(operator, id);
    expect(await list()).toEqual([]);
  });
});

/** Starts a session that was last used so many seconds ago, and returns its id. */
const usedBefore = async (seconds: number): Promise<RecordId<'PortalSession'>> => {
  await startSession();
  const [row] = await superuser.run(
    'update portal_session set last_used_at = now() - make_interval(secs => $1) returning id',
    [seconds],
  );
  return toRecordId(String(row?.['id']));
};

test('all sessions and links end, except those of an account at home in another cell', async () => {
  await startSession();
  await insertPortalLink(admin, link({ linkHash: hashOf('own') }), 100);
  await insert(`${other.id}, 'supplier', '${otherKey}'`, `now() + interval '1 minute'`, 'foreign');
  await superuser.run('insert into account_home values ($1, 1)', [other.id]);
  const ended = await endAllPortalSessions(admin);
  await superuser.run('delete from account_home');
  expect(ended).toBe(2);
  expect(await superuser.run('select account_id::text from portal_session where expires_at > now()')).toEqual([
    { account_id: other.id },
  ]);
});

describe('a session that was last used about 30 minutes ago', () => {
  const tokenHash = createHash('sha256').update('t').digest();

  test.each([
    [30 * 60 - 20, 'accepted'],
    [30 * 60, 'ended'],
  ])('%i seconds ago is %s for the statements of the apps and for the database', async (seconds, state) => {
    await usedBefore(seconds);
    const found = await selectPortalSession(admin, { tokenHash, interfaceName: 'supplier' });
    expect(found === null ? 'ended' : 'accepted').toBe(state);
    const used = logins.of('supplier_api').run('update portal_session set last_used_at = now()');
    expect(
      await used.then(
        () => 'accepted',
        () => 'ended',
      ),
    ).toBe(state);
  });

  test('fails no app that records its use or ends it', async () => {
    for (let age = 30 * 60 - 0.06; age < 30 * 60 + 0.06; age += 0.01) {
      const id = await usedBefore(age);
      await updatePortalSessionUse(supplierApi, id);
      expect(await endPortalSession(supplierApi, id)).toBe(true);
      await superuser.run('delete from portal_session');
    }
  });
});

test.each([
  ['own', own, 'other'],
  ['other', other, 'own'],
])('an exchange of the account %s locks the sessions that end in the order of their ids', async (_, account, token) => {
  for (const [name, { id }] of [
    ['own', own],
    ['other', other],
  ] as const)
    await superuser.run(
      `insert into portal_session
         (account_id, interface, abilities, actor, link_hash, token_hash, started_at, last_used_at, expires_at)
       values ($1, 'supplier', '{READ}', 'a', $2, $2, now(), now(), now() + interval '1 minute')`,
      [id, hashOf(name)],
    );
  const [first, last] = await superuser.run('select id from portal_session order by id');
  await superuser.run('begin');
  await superuser.run('select from portal_session where id = $1 for update', [first?.['id']]);
  const ending = endReplacedPortalSessions(admin, { tokenHash: hashOf(token), accountId: account.id, max: 0 });
  await sleep(300);
  const free = 'select from portal_session where id = $1 for update skip locked';
  expect(await logins.of('supplier_api').run(free, [last?.['id']])).toHaveLength(1);
  await superuser.run('rollback');
  await ending;
  expect(await superuser.run('select from portal_session where expires_at > now()')).toEqual([]);
});

test('the worker deletes links and sessions a day after they expired, in batches, and cannot read them', async () => {
  for (let count = 1; count <= 10; count += 1)
    await insertPortalLink(admin, link({ linkHash: hashOf(String.fromCodePoint(count)) }), 100);
  await superuser.run(
    `update portal_session set expires_at = now() - make_interval(hours => 20 + ascii(convert_from(link_hash, 'UTF8')::text), mins => 30)`,
  );
  expect(await deleteExpiredPortalSessions(worker, 4)).toBe(4);
  expect(await deleteExpiredPortalSessions(worker, 4)).toBe(3);
  expect(await deleteExpiredPortalSessions(worker, 4)).toBe(0);
  expect(await superuser.run('select from portal_session')).toHaveLength(3);
  await expect(worker.query({ name: 'read', text: 'select from portal_session' }, [])).rejects.toThrow(
    'permission denied',
  );
});

const interfaceName = 'supplier';

describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
  beforeEach(async () => {
    await superuser.run(`insert into portal_session
      (account_id, interface, abilities, actor, link_hash, token_hash, started_at, last_used_at, expires_at)
      select case when n <= 3 then ${own.id} else ${other.id} end, 'supplier', '{READ}', 'a', sha256(n::text::bytea),
        sha256(('t' || n)::bytea), now(), now(), now() + interval '1 hour'
      from generate_series(1, 2000) n`);
    await superuser.run('analyze portal_session, account, api_client, api_key');
  });

  test('finds and starts a session by its hashes', async () => {
    const used = { linkHash: hashOf('x'), organizationId: toRecordId<'Organization'>('1'), interfaceName } as const;
    for (const run of [
      (db: Database) => selectPortalSession(db, { tokenHash: hashOf('x'), interfaceName }),
      (db: Database) => selectPortalLink(db, used),
      (db: Database) => startPortalSession(db, toRecordId('1'), hashOf('y')),
    ]) {
      const nodes = await explain(superuser, mode, run);
      expect(scanned(nodes)).not.toContain('portal_session');
      expect(rowsRead(nodes, 'portal_session')).toBeLessThan(10);
    }
  });

  test('counts and lists the sessions of an account by its index', async () => {
    const replaced = { tokenHash: hashOf('x'), accountId: own.id, max: 20 };
    const excess = await explain(superuser, mode, (db) => endReplacedPortalSessions(db, replaced));
    expect(indexes(excess)).toEqual(
      expect.arrayContaining(['portal_session_listed_by_account', 'portal_session_token_hash_key']),
    );
    expect(scanned(excess)).not.toContain('portal_session');
    const counted = await explain(superuser, mode, (db) => insertPortalLink(db, link(), 100));
    expect(indexes(counted)).toContain('portal_session_unused_by_account');
    const listed = await explain(superuser, mode, (db) =>
      selectPortalSessions(db, own.id, { afterId: null, limit: 21 }),
    );
    expect(indexes(listed)).toContain('portal_session_listed_by_account');
  });
});
