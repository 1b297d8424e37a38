import { toRecordId } from '@deedwire/domain';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { deleteExpiredPortalSessions } from '../src/housekeeping.ts';
import { createStore, type Database } from '../src/index.ts';
import {
  endExcessPortalSessions,
  insertPortalLink,
  type NewPortalLink,
  selectPortalSession,
  selectPortalSessions,
  startPortalSession,
} from '../src/portal-sessions.ts';
import { createMigratedDatabase } from './support/database.ts';
import { explain, indexes, rowsRead, scanned } from './support/explain.ts';
import { openLogins } from './support/logins.ts';
import { seedAccount } from './support/seed.ts';

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const worker = await forFile(
  createStore({ databaseUrl: await database.urlFor('webhook_worker'), applicationName: 'test' }),
);
const logins = await forFile(openLogins(database));
const [own, other] = [await seedAccount(admin, 'lender'), await seedAccount(admin, 'lender')];
const partner = await seedAccount(admin, 'partner');

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
  interfaceName: 'lender',
  keyId: ownKey,
  abilities: ['READ'],
  actor: 'a',
  returnUrl: null,
  subscriptionId: null,
  linkHash: hashOf('link'),
  expiresInSeconds: 60,
  ...change,
});

beforeEach(async () => {
  await superuser.run('delete from portal_session');
});

test('the first link of an account creates the client of the portal, which the audit log has', async () => {
  const links = Array.from({ length: 5 }, (_, index) =>
    insertPortalLink(admin, link({ linkHash: hashOf(`${index}`) })),
  );
  await Promise.all(links);
  const clientId = `portal_lender_${own.id}`;
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

const insert = (values: string) =>
  logins.of('lender_api').run(
    `insert into portal_session (account_id, interface, key_id, abilities, actor, link_hash, expires_at)
     values (${values}, '{READ}', 'a', sha256('x'), now() + interval '1 year')`,
  );

describe('a login of an interface', () => {
  test.each([
    ['without a key', `${own.id}, 'lender', null`],
    ['with the key of another account', `${own.id}, 'lender', '${otherKey}'`],
    ['of the other interface', `${partner.id}, 'partner', '${ownKey}'`],
    ['of an account of the other interface', `${partner.id}, 'lender', '${ownKey}'`],
  ])('creates no link %s', async (_, values) => {
    await expect(insert(values)).rejects.toThrow(/has no key|violates row-level security/);
    expect(await superuser.run(`select from api_client where client_id like 'portal_partner%'`)).toEqual([]);
  });

  test('makes no session longer than 8 hours', async () => {
    await insert(`${own.id}, 'lender', '${ownKey}'`);
    const isShort = `select expires_at <= now() + interval '8 hours' as short from portal_session`;
    expect(await superuser.run(isShort)).toEqual([{ short: true }]);
    await logins.of('lender_api').run(`update portal_session set expires_at = now() + interval '1 year'`);
    expect(await superuser.run(isShort)).toEqual([{ short: true }]);
  });
});

test('the worker deletes links and sessions a day after they expired, in batches, and cannot read them', async () => {
  for (let count = 1; count <= 10; count += 1)
    await insertPortalLink(admin, link({ linkHash: hashOf(String.fromCodePoint(count)) }));
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

describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
  beforeEach(async () => {
    await superuser.run(`insert into portal_session
      (account_id, interface, abilities, actor, link_hash, token_hash, started_at, last_used_at, expires_at)
      select case when n <= 3 then ${own.id} else ${other.id} end, 'lender', '{READ}', 'a', sha256(n::text::bytea),
        sha256(('t' || n)::bytea), now(), now(), now() + interval '1 hour'
      from generate_series(1, 2000) n`);
    await superuser.run('analyze portal_session, account, api_client, api_key');
  });

  test('finds and starts a session by its hashes', async () => {
    const started = { linkHash: hashOf('x'), tokenHash: hashOf('y'), organizationId: toRecordId<'Organization'>('1') };
    for (const run of [
      (db: Database) => selectPortalSession(db, hashOf('x')),
      (db: Database) => startPortalSession(db, started),
    ]) {
      const nodes = await explain(superuser, mode, run);
      expect(scanned(nodes)).not.toContain('portal_session');
      expect(rowsRead(nodes, 'portal_session')).toBeLessThan(10);
    }
  });

  test('counts and lists the sessions of an account by its index', async () => {
    const excess = await explain(superuser, mode, (db) => endExcessPortalSessions(db, own.id, 20));
    expect(indexes(excess)).toContain('portal_session_by_account');
    const listed = await explain(superuser, mode, (db) =>
      selectPortalSessions(db, own.id, { afterId: null, limit: 21 }),
    );
    expect(indexes(listed)).toContain('portal_session_by_account');
  });
});
