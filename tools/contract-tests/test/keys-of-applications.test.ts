import { hash } from 'node:crypto';
import { createHarness } from '@deedwire/dev-environment/harness';
import { postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';

// What an application gives the customers for whose accounts it has its own ids.

const harness = await forFile(createHarness());
const service = await harness.startApi('customer');
await service.whenReady;
const [{ gid = '', organization = '' } = {}] = (await harness.sql(
  `select create_account('customer', 'c-1', 'Ada', gid('Organization', min(id)::text)) as gid, min(id) as organization from organization`,
)) as { gid?: string; organization?: string }[];

interface Created {
  api_key: string;
  client_id: string;
  organization_id: string;
}

const createKey = async (abilities = '{READ}', account = 'c-1', name: string | null = 'Shop') => {
  const rows = await harness.sql(`select * from create_api_key('customer', $1, $2, $3)`, [account, name, abilities]);
  return rows[0] as unknown as Created;
};

const createLink = async (parameters: string) =>
  String((await harness.sql(`select create_portal_link('customer', ${parameters}) as link`))[0]?.['link']);

const send = ({ api_key: apiKey, client_id: clientId, organization_id: organizationId }: Created, query: string) =>
  postGraphql(`${service.url}/customer/graphql`, { apiKey, clientId, organizationId }, { query });

const lastEntry = async () =>
  (
    await harness.sql(
      `select action, actor, details ->> 'application' as application from audit_entry order by at desc, number desc limit 1`,
    )
  )[0];

beforeEach(async () => {
  await harness.sql('update installation set key_self_service = true');
  await harness.sql(
    `delete from api_key where api_client_id in (select id from api_client where client_id like 'application_%')`,
  );
});

test('a key is accepted by the interface, does what its abilities allow, and no more', async () => {
  const key = await createKey();
  expect(key.api_key).toMatch(/^dw_customer_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  expect(await send(key, '{ customer { id name } }')).toMatchObject({
    status: 200,
    body: { data: { customer: { id: gid, name: 'Ada' } } },
  });
  expect(await lastEntry()).toEqual({ action: 'credential.issue', actor: null, application: 'create_api_key' });
  const write = `mutation { placeOrder(input: { item: "Tea" }) { order { id } } }`;
  expect(JSON.stringify((await send(key, write)).body)).toContain('WRITE');
  const events = `select event_type from webhook_event where event_type like 'api_key.%'`;
  expect(await harness.sql(events)).toContainEqual({ event_type: 'api_key.created' });
});

test('the keys of an account have one client, and each is another one', async () => {
  const keys = [await createKey(), await createKey(), await createKey()];
  expect(new Set(keys.map(({ client_id: id }) => id))).toEqual(
    new Set([`application_customer_${gid.split('/').pop()}`]),
  );
  expect(new Set(keys.map(({ api_key: key }) => key)).size).toBe(3);
});

describe('refuses', () => {
  test.each([
    ['the ability to write records', '{READ,WRITE}', 'c-1', 'Shop', 'DW007'],
    ['the ability to manage keys', '{READ,MANAGE_KEYS}', 'c-1', 'Shop', 'DW007'],
    ['no ability', '{}', 'c-1', 'Shop', 'DW007'],
    ['CONFIGURE without payloads', '{READ,CONFIGURE}', 'c-1', 'Shop', 'DW007'],
    ['an ability twice', '{READ,READ}', 'c-1', 'Shop', 'DW007'],
    ['null as an ability', '{READ,NULL}', 'c-1', 'Shop', 'DW007'],
    ['no name', '{READ}', 'c-1', null, 'DW007'],
    ['an unknown account', '{READ}', 'c-2', 'Shop', 'DW002'],
  ])('%s', async (_, abilities, account, name, code) => {
    await expect(createKey(abilities, account, name)).rejects.toMatchObject({ code });
  });

  test('an account that an operator created', async () => {
    await expect(createKey('{READ}', harness.accounts.customer.id)).rejects.toMatchObject({ code: 'DW007' });
    await expect(createLink(`'${harness.accounts.customer.id}', 'user-1'`)).rejects.toMatchObject({ code: 'DW007' });
  });

  test('a sixth key that is accepted, and the 21st of a day', async () => {
    for (let count = 1; count <= 5; count += 1) await createKey();
    await expect(createKey()).rejects.toMatchObject({ code: 'DW008' });
    for (let round = 1; round <= 3; round += 1) {
      await harness.sql(`update api_key set revoked_at = now() where revoked_at is null and key_id in
        (select k.key_id from api_key k join api_client c on c.id = k.api_client_id where c.client_id like 'application_%')`);
      for (let count = 1; count <= 5; count += 1) await createKey();
    }
    await harness.sql(`update api_key set revoked_at = now() where revoked_at is null and key_id in
      (select k.key_id from api_key k join api_client c on c.id = k.api_client_id where c.client_id like 'application_%')`);
    await expect(createKey()).rejects.toMatchObject({ code: 'DW008' });
  });

  test('every key while only operators create keys', async () => {
    await harness.sql('update installation set key_self_service = false');
    await expect(createKey()).rejects.toMatchObject({ code: 'DW008' });
  });

  test.each([
    ['an address as the actor', `'c-1', 'ada@shop.example'`],
    ['no actor', `'c-1', null`],
    ['a link that lives for too long', `'c-1', 'user-1', expires_in_seconds => 601`],
    ['another scheme to return to', `'c-1', 'user-1', return_url => 'javascript://a'`],
    ['a URL with a user', `'c-1', 'user-1', return_url => 'https://a@b.example/'`],
    ['a link that manages keys', `'c-1', 'user-1', array['READ', 'MANAGE_KEYS']`],
  ])('%s', async (_, parameters) => {
    await expect(createLink(parameters)).rejects.toMatchObject({ code: 'DW007' });
  });
});

test('a link to the portal has the account, lives for minutes, and only its hash is stored', async () => {
  const link = await createLink(`'c-1', 'user-1', return_url => 'https://shop.example/back?a=1'`);
  const [, of, token = ''] = /^portal\/(\d+)\/#link=([\w-]{43})$/.exec(link) ?? [];
  expect(of).toBe(organization);
  const [session] = await harness.sql(
    `select account_id, actor, abilities, link_hash, return_url, expires_at <= now() + interval '10 minutes' as is_short
     from portal_session order by id desc limit 1`,
  );
  expect(session).toEqual({
    account_id: gid.split('/').pop(),
    actor: 'user-1',
    abilities: ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'],
    link_hash: hash('sha256', token, 'buffer'),
    return_url: 'https://shop.example/back?a=1',
    is_short: true,
  });
  expect(await lastEntry()).toEqual({ action: 'portal_link.create', actor: null, application: 'create_portal_link' });
});
