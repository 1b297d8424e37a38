import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPortalLinkOfAccount, expireCredential, issueCredential, revokeCredential } from '@deedwire/actions';
import { type InterfaceName, interfaceNames, testService } from '@deedwire/core/test-service';
import { callOperator, createHarness, type OperatorResult, type TestAccount } from '@deedwire/dev-environment/harness';
import { createLogger, doWaitingWork } from '@deedwire/service-runtime';
import { connect, eventually, missing, postGraphql, untilBlocked } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { othersThan } from './support/interface-contracts.ts';
import {
  type Browser,
  createBrowser,
  operations,
  type OperationName,
  portalOrigin,
  reloadScript,
  type Received,
  type Sent,
  writePages,
} from './support/portal-browser.ts';
import { refusedInASecond } from './support/refused-in-a-second.ts';
import { insertDelivery, insertSubscription } from './support/stored-deliveries.ts';

const version = '2026-11-01';
const harness = await forFile(createHarness());
const pages = await forFile(writePages());
const logged: string[] = [];
const logger = createLogger(
  { name: 'test', level: 'trace', service: testService },
  { write: (line) => logged.push(line) },
);
const parts = { portalFolder: pages.folder, logger };
const config = {
  PORTAL_ORIGIN: portalOrigin,
  DOCUMENTATION_URL: 'https://docs.example',
  DATABASE_TIMEOUT_MS: 60_000,
} as const;
const services = {
  customer: await harness.startApi('customer', config, undefined, parts),
  supplier: await harness.startApi('supplier', config, undefined, parts),
};
for (const { whenReady } of Object.values(services)) await whenReady;
const urls = { customer: services.customer.url, supplier: services.supplier.url };
const { supplier } = harness.accounts;

type Account = TestAccount<InterfaceName>;

type Link = {
  portalLink: { url: string; expiresAt: string } | null;
  userErrors: { code: string; field: string[] | null }[];
};

const createLink = `mutation ($input: CreatePortalLinkInput!) {
  createPortalLink(input: $input) { portalLink { url expiresAt } userErrors { code field } }
}`;

async function requestLink(
  account: Account,
  input: object = {},
  { credential = account.credential, url = urls[account.interfaceName] } = {},
): Promise<Link> {
  const variables = { input: { abilities: ['READ'], actor: 'user-1', ...input } };
  const { body } = await postGraphql<{ createPortalLink: Link }>(
    `${url}${testService.interfaces[account.interfaceName].path}/graphql`,
    credential,
    {
      query: createLink,
      variables,
    },
  );
  if (!body.data) throw new Error(JSON.stringify(body.errors));
  return body.data.createPortalLink;
}

async function linkTo(account: Account, input: object = {}, credential = account.credential): Promise<string> {
  const { portalLink, userErrors } = await requestLink(account, input, { credential });
  if (portalLink === null) throw new Error(JSON.stringify(userErrors));
  return portalLink.url;
}

const numberOf = ({ credential }: Account): string => credential.organizationId.split('/').at(-1) ?? '';
const baseOf = (account: Account): string =>
  `${testService.interfaces[account.interfaceName].path}/portal/${numberOf(account)}/`;
const browserOf = (account: Account, url = urls[account.interfaceName]): Browser => createBrowser(url, baseOf(account));

async function openPortal(account: Account, input: object = {}, credential = account.credential): Promise<Browser> {
  const browser = browserOf(account);
  expect(await browser.open(await linkTo(account, input, credential))).toMatchObject({ status: 200 });
  return browser;
}

const outcomeOf = ({ status, json }: Received) => [status, json?.errors?.[0]?.extensions.code ?? null];
const unauthenticated = [401, 'UNAUTHENTICATED'];
const readSession = (browser: Browser): Promise<Received> => browser.send({ path: 'session' });

async function ends(browser: Browser): Promise<void> {
  await refusedInASecond(async () => [(await readSession(browser)).status]);
  expect(outcomeOf(await readSession(browser))).toEqual(unauthenticated);
}

const auditOf = (action: string): Promise<Record<string, unknown>[]> =>
  harness.sql('select actor, actor_type, account_id, details from audit_entry where action = $1 order by number desc', [
    action,
  ]);

/** Locks rows until the test ends, or earlier. */
async function lock(select: string): Promise<() => Promise<void>> {
  const blocker = await forTest(connect(harness.database.databaseUrl));
  await blocker.run(`begin; ${select}`);
  return async () => void (await blocker.run('rollback'));
}

/** A statement that waits for a lock gives up after 24 seconds. */
const delayed = 20_000;

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const costOf = ({ json }: Received): number => json.errors[0].extensions.cost.requestedQueryCost;

const from = (address: string) => ({ 'X-Forwarded-For': address });

/** Until the address may send 50 requests without a session again. */
const rest = (): Promise<void> => sleep(1_000);

describe.each(interfaceNames)('the portal of the %s interface', (name) => {
  const account = harness.accounts[name];

  test('opens by a link, shows the session, runs operations of its pages, and ends', async () => {
    const subscription = await insertSubscription(harness, name, account);
    const returnUrl = 'https://app.example/webhooks';
    const link = await linkTo(account, { returnUrl, subscriptionId: subscription.gid });
    expect(link).toMatch(new RegExp(`^${portalOrigin}${baseOf(account)}#link=[\\w-]{43}$`));
    const browser = browserOf(account);
    const opened = await browser.open(link);
    const session = {
      id: expect.stringMatching(/^gid:\/\/service\/PortalSession\/\d+$/),
      interface: name,
      account: { id: account.id, name: expect.any(String) },
      abilities: ['READ'],
      actor: 'user-1',
      returnUrl,
      subscriptionId: subscription.gid,
      expiresAt: expect.stringMatching(/Z$/),
      expiresInSeconds: expect.closeTo(28_800, -1),
      idleSeconds: 1_800,
      idleEndsInSeconds: expect.closeTo(1_800, -1),
      documentationUrl: 'https://docs.example',
    };
    expect(opened).toMatchObject({ status: 200, json: session });
    expect(opened.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(
          `^__Host-deedwire-${name}-portal=[\\w-]{43}; Secure; HttpOnly; SameSite=Strict; Path=/; Max-Age=28800$`,
        ),
      ),
    ]);
    expect(await readSession(browser)).toMatchObject({ status: 200, json: session });
    const { status, json, headers } = await browser.run('subscriptions');
    expect({ status, data: json.data }).toEqual({
      status: 200,
      data: { webhookSubscriptions: { nodes: [expect.objectContaining({ id: subscription.gid })] } },
    });
    expect(headers).toMatchObject({ 'x-service-schema-version': version, 'cache-control': 'no-store' });
    expect(json.extensions.cost).toBeDefined();

    const ended = await browser.send({ method: 'DELETE', path: 'session' });
    expect(ended).toMatchObject({ status: 204, text: '' });
    expect(outcomeOf(await readSession(browser))).toEqual(unauthenticated);
    expect(ended.headers['set-cookie']).toBeUndefined();
    const addresses = `select address from audit_entry where action = 'portal_session.end' order by number desc limit 1`;
    expect(await harness.sql(addresses)).toEqual([{ address: '127.0.0.1' }]);
    await harness.sql(`update webhook_subscription set deleted_at = now() where id = ${subscription.id}`);
  });

  test.each(othersThan(name))('its session is refused by the %s interface', async (other) => {
    const browser = await openPortal(account);
    const cookie = browser.cookie();
    for (const headers of [{ Cookie: cookie }, { Cookie: cookie.replace(name, other) }]) {
      const foreign = createBrowser(urls[other], baseOf(harness.accounts[other]));
      expect(outcomeOf(await foreign.send({ path: 'session', headers }))).toEqual(unauthenticated);
    }
    const { status, body } = await postGraphql(
      `${urls[other]}${testService.interfaces[other].path}/graphql`,
      account.credential,
      {
        query: createLink,
        variables: { input: { abilities: ['READ'], actor: 'a' } },
      },
    );
    expect([status, body.errors?.[0]?.extensions.code]).toEqual([403, 'WRONG_INTERFACE']);
  });
});

describe('createPortalLink', () => {
  const long = 'a'.repeat(2_048);
  test.each<[object, string, string | null]>([
    [{ abilities: [] }, 'ABILITIES_INVALID', 'abilities'],
    [{ abilities: ['OPERATE'] }, 'ABILITIES_INVALID', 'abilities'],
    [{ abilities: ['READ', 'READ'] }, 'ABILITIES_INVALID', 'abilities'],
    [{ abilities: ['READ', 'OPERATE', 'CONFIGURE'] }, 'ABILITIES_INVALID', 'abilities'],
    [{ actor: ' ' }, 'ACTOR_INVALID', 'actor'],
    [{ actor: 'a'.repeat(101) }, 'ACTOR_INVALID', 'actor'],
    [{ actor: 'a\nb' }, 'ACTOR_INVALID', 'actor'],
    // The audit log would keep a name or an address for good.
    [{ actor: 'ada@supplier.example' }, 'ACTOR_INVALID', 'actor'],
    [{ actor: 'Ada Lovelace' }, 'ACTOR_INVALID', 'actor'],
    [{ returnUrl: 'http://app.example/' }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ returnUrl: 'javascript:alert(1)' }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ returnUrl: 'https://user@app.example/' }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ returnUrl: 'https://@app.example/' }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ returnUrl: 'https://app.example\\@evil.example/' }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ returnUrl: `https://app.example/${long}` }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ returnUrl: `https://app.example/${'é'.repeat(400)}` }, 'RETURN_URL_INVALID', 'returnUrl'],
    [{ expiresInSeconds: 59 }, 'EXPIRY_INVALID', 'expiresInSeconds'],
    [{ expiresInSeconds: 601 }, 'EXPIRY_INVALID', 'expiresInSeconds'],
    [{ subscriptionId: 'gid://service/WebhookSubscription/1' }, 'NOT_FOUND', 'subscriptionId'],
  ])('rejects %j', async (input, code, field) => {
    expect(await requestLink(supplier, input)).toEqual({
      portalLink: null,
      userErrors: [{ code, field: ['input', field] }],
    });
  });

  test('finds no subscription of another account', async () => {
    const foreign = await insertSubscription(harness, 'supplier', harness.accounts.otherSupplier);
    expect(await requestLink(supplier, { subscriptionId: foreign.gid })).toMatchObject({
      userErrors: [{ code: 'NOT_FOUND' }],
    });
  });

  test('accepts the longest values, expires when it says, and is audited without its token', async () => {
    const actor = 'ä'.repeat(100);
    const before = Date.now();
    const { portalLink } = await requestLink(supplier, { actor, expiresInSeconds: 600 });
    expect(new Date(portalLink?.expiresAt ?? 0).getTime() - before).toBeGreaterThan(595_000);
    const token = portalLink?.url.split('=')[1] ?? '';
    expect((await auditOf('portal_link.create'))[0]).toEqual({
      actor: supplier.credential.clientId,
      actor_type: 'CLIENT',
      account_id: supplier.accountId,
      details: { actor, abilities: ['READ'], keyId: expect.any(String) },
    });
    const stored = await harness.sql(
      `select p::text as row from portal_session p union all select a::text from audit_entry a`,
    );
    expect(stored.filter(({ row }) => String(row).includes(token))).toEqual([]);
  });
});

describe('a link', () => {
  test('is refused with one response, whatever is wrong with it', async () => {
    const used = await linkTo(supplier);
    await browserOf(supplier).open(used);
    const expired = await linkTo(supplier, { actor: 'expired' });
    await harness.sql(`update portal_session set expires_at = now() where actor = 'expired'`);
    const { apiKey, ...issued } = await issueCredential(harness.operator, { accountId: supplier.id, clientId: null });
    const revoked = await linkTo(supplier, {}, { ...issued, apiKey });
    await revokeCredential(harness.operator, { keyId: apiKey.split('_')[2] ?? '' });
    const foreign = await linkTo(harness.accounts.otherSupplier);
    const ofCustomer = await linkTo(harness.accounts.customer);
    const unknown = `${portalOrigin}/#link=${'A'.repeat(43)}`;
    const malformed = `${portalOrigin}/#link=A`;
    const bodies = new Set<string>();
    for (const link of [used, expired, revoked, foreign, ofCustomer, unknown, malformed]) {
      const response = await browserOf(supplier).open(link);
      expect(outcomeOf(response)).toEqual(unauthenticated);
      expect(response.headers['set-cookie']).toBeUndefined();
      bodies.add(response.text.replace(/"requestId":"[^"]+"/, ''));
    }
    for (const body of [{ token: 1 }, '', '{', '[]'])
      expect(outcomeOf(await browserOf(supplier).send({ method: 'POST', path: 'session', body }))).toEqual(
        unauthenticated,
      );
    expect(bodies.size).toBe(1);
    // Not by the refusal.
    expect(await browserOf(harness.accounts.otherSupplier).open(foreign)).toMatchObject({ status: 200 });
  });

  test('gives one session to 50 requests at once', async () => {
    await rest();
    const link = await linkTo(supplier, { actor: 'fifty' });
    const responses = await Promise.all(Array.from({ length: 50 }, () => browserOf(supplier).open(link)));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(49);
    expect(
      await harness.sql(`select from portal_session where actor = 'fifty' and token_hash is not null`),
    ).toHaveLength(1);
    await rest();
  });

  test('is refused by the app of the other interface, even when its login sees all rows', async () => {
    const all = { ...config, DATABASE_URL: harness.database.databaseUrl };
    const service = await harness.startApi('supplier', all, undefined, parts);
    await service.whenReady;
    const { customer } = harness.accounts;
    const foreign = createBrowser(service.url, baseOf(customer).replace('customer', 'supplier'));
    expect(outcomeOf(await foreign.open(await linkTo(customer)))).toEqual(unauthenticated);
    const cookie = (await openPortal(customer)).cookie().replace('customer', 'supplier');
    const { status } = await foreign.send({ path: 'session', headers: { Cookie: cookie } });
    expect(status).toBe(401);
    await service.stop();
  });

  test('is not created while the account has 100 that were not opened', async () => {
    const account = harness.accounts.otherSupplier;
    const fill = `insert into portal_session (account_id, interface, abilities, actor, link_hash, expires_at)
      select $1, 'supplier', '{READ}', 'many', sha256(('many' || n)::bytea), now() + interval '5 minutes'
      from generate_series(1, 100) n`;
    await harness.sql(fill, [account.accountId]);
    expect(await requestLink(account)).toEqual({
      portalLink: null,
      userErrors: [{ code: 'LIMIT_REACHED', field: null }],
    });
    await harness.sql(`update portal_session set expires_at = now() where actor = 'many'`);
    expect(await requestLink(account)).toMatchObject({ userErrors: [] });
  });

  test('waits for others of its account without delaying a key that is new', async () => {
    const account = harness.accounts.otherSupplier;
    const links = await Promise.all(Array.from({ length: 6 }, () => linkTo(account)));
    const credential = await issueCredential(harness.operator, { accountId: account.id, clientId: null });
    const release = await lock(
      `select from api_client where client_id = 'portal_supplier_${account.accountId}' for update`,
    );
    let answers = 0;
    const opened = links.map((link) =>
      browserOf(account)
        .open(link)
        .finally(() => (answers += 1)),
    );
    await sleep(200);
    const url = `${urls.supplier}/supplier/graphql`;
    expect(await postGraphql(url, credential, { query: '{ __typename }' })).toMatchObject({ status: 200 });
    expect(answers).toBe(0);
    await release();
    expect((await Promise.all(opened)).map(({ status }) => status)).toEqual(links.map(() => 200));
  });

  test('opened with the cookie of another account ends its session, whose account does not learn of whom', async () => {
    const { otherSupplier } = harness.accounts;
    const victim = await openPortal(otherSupplier, { actor: 'victim' });
    const link = await linkTo(supplier, { actor: 'other' });
    const Cookie = victim.cookie();
    expect(await browserOf(supplier).open(link, { Cookie })).toMatchObject({ status: 200 });
    await ends(victim);
    const entry = {
      actor: null,
      actor_type: null,
      account_id: otherSupplier.accountId,
      details: { actor: 'victim', keyId: expect.any(String) },
    };
    expect((await auditOf('portal_session.end'))[0]).toEqual(entry);
  });

  test('that ends the oldest session of another account, and the other way round, is never refused', async () => {
    const accounts = [supplier, harness.accounts.otherSupplier];
    for (let round = 0; round < 3; round += 1) {
      const oldest: string[] = [];
      for (const account of accounts) {
        await harness.sql('update portal_session set expires_at = now() where account_id = $1 and expires_at > now()', [
          account.accountId,
        ]);
        const first = await openPortal(account);
        oldest.unshift(first.cookie());
        await harness.sql(
          `insert into portal_session
             (account_id, interface, abilities, actor, link_hash, token_hash, started_at, last_used_at, expires_at)
           select $1, 'supplier', '{READ}', 'a', sha256(random()::text::bytea), sha256(random()::text::bytea), now(), now(),
             now() + interval '9 minutes' from generate_series(2, 20)`,
          [account.accountId],
        );
      }
      const opened = accounts.flatMap((account, index) =>
        Array.from({ length: 6 }, async () =>
          browserOf(account).open(await linkTo(account), { Cookie: oldest[index] }),
        ),
      );
      expect((await Promise.all(opened)).map(({ status }) => status)).toEqual(opened.map(() => 200));
    }
  });

  test('opened in the same browser replaces its session', async () => {
    const browser = await openPortal(supplier);
    const first = browser.cookie();
    await browser.open(await linkTo(supplier));
    expect(await readSession(browser)).toMatchObject({ status: 200 });
    const earlier = { Cookie: first, 'X-Portal-Session': undefined };
    await refusedInASecond(async () => [(await browser.send({ path: 'session', headers: earlier })).status]);
  });
});

describe('a session', () => {
  test.each([
    ['is revoked', (keyId: string) => revokeCredential(harness.operator, { keyId })],
    ['expires', (keyId: string) => expireCredential(harness.operator, { keyId, expiresAt: null })],
  ])('ends within a second when its key %s', async (_, endKey) => {
    const issued = await issueCredential(harness.operator, { accountId: supplier.id, clientId: null });
    const browser = await openPortal(supplier, {}, issued);
    expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
    await endKey(issued.apiKey.split('_')[2] ?? '');
    await ends(browser);
    expect(outcomeOf(await browser.run('subscriptions'))).toEqual(unauthenticated);
  });

  test('survives a restart, because another process accepts it', async () => {
    const browser = await openPortal(supplier);
    const { url, stop, whenReady } = await harness.startApi('supplier', config, undefined, parts);
    await whenReady;
    const { id } = (await readSession(browser)).json;
    const headers = { Cookie: browser.cookie(), 'X-Portal-Session': id };
    expect(await browserOf(supplier, url).send({ path: 'session', headers })).toMatchObject({
      status: 200,
      json: { id },
    });
    await stop();
  });

  test('ends after 30 minutes without use, and after 8 hours', async () => {
    for (const [actor, change] of [
      ['left-for-30-minutes', `last_used_at = now() - interval '30 minutes'`],
      ['at-the-end-of-8-hours', `expires_at = now()`],
    ] as const) {
      const browser = await openPortal(supplier, { actor });
      await harness.sql(`update portal_session set ${change} where actor = $1`, [actor]);
      await ends(browser);
      expect(outcomeOf(await browser.run('subscriptions'))).toEqual(unauthenticated);
    }
  });

  test('records the operations that use it, at most once a minute', async () => {
    const browser = await openPortal(supplier, { actor: 'used' });
    const lastUse = async () =>
      (await harness.sql(`select last_used_at::text as at from portal_session where actor = 'used'`))[0]?.['at'];
    const first = await lastUse();
    await browser.run('subscriptions');
    expect(await lastUse()).toBe(first);
    await harness.sql(`update portal_session set last_used_at = now() - interval '61 seconds' where actor = 'used'`);
    const old = await lastUse();
    await sleep(1_000);
    // Refused requests are no use.
    const elsewhere = `${baseOf(harness.accounts.otherSupplier)}session`;
    for (const sent of [{ path: elsewhere }, { path: 'session', headers: { 'X-Portal-Session': 'other' } }])
      expect(outcomeOf(await browser.send(sent))).toEqual(unauthenticated);
    await sleep(1_000);
    expect(await lastUse()).toBe(old);
    // It is cached, and its use was not recorded yet.
    expect(await readSession(browser)).toMatchObject({ status: 200 });
    await eventually(async () => {
      expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
      expect(await lastUse()).not.toBe(old);
      // A use is recorded at most once a minute.
    }, 50_000);
  });

  test('says how long it lasts, which asking does not prolong', async () => {
    const browser = await openPortal(supplier, { actor: 'asked' });
    await harness.sql(`update portal_session set last_used_at = now() - interval '29 minutes' where actor = 'asked'`);
    await sleep(1_000);
    const { idleEndsInSeconds, expiresInSeconds } = (await readSession(browser)).json;
    expect(idleEndsInSeconds).toBeGreaterThan(0);
    expect(idleEndsInSeconds).toBeLessThan(60);
    await sleep(1_000);
    const { json } = await readSession(browser);
    expect(json.idleEndsInSeconds).toBeLessThan(idleEndsInSeconds);
    expect(json.expiresInSeconds).toBeLessThan(expiresInSeconds);
  });

  test('whose row is locked delays no other client', async () => {
    const browsers: Browser[] = [];
    for (let count = 0; count < 12; count += 1) browsers.push(await openPortal(supplier, { actor: 'locked' }));
    await harness.sql(`update portal_session set last_used_at = now() - interval '2 minutes' where actor = 'locked'`);
    await sleep(1_000);
    await lock(`select from portal_session where actor = 'locked' for update`);
    const used = await Promise.all(browsers.map((browser) => browser.run('subscriptions')));
    expect(used.map(({ status }) => status)).toEqual(used.map(() => 200));
    expect(await timeOf(() => linkTo(harness.accounts.otherSupplier))).toBeLessThan(delayed);
  });

  test('beyond 20 of an account ends the one that was not used for longest, even at the same time', async () => {
    const account = harness.accounts.otherSupplier;
    await harness.sql(`update portal_session set expires_at = now() where account_id = $1 and expires_at > now()`, [
      account.accountId,
    ]);
    const browsers: Browser[] = [];
    for (let count = 0; count < 20; count += 1) browsers.push(await openPortal(account, { actor: `${count}` }));
    await harness.sql(
      `update portal_session set last_used_at = now() - interval '9 minutes' where actor = '7' and account_id = $1`,
      [account.accountId],
    );
    const links = await Promise.all([linkTo(account), linkTo(account), linkTo(account)]);
    await Promise.all(links.map((link) => browserOf(account).open(link)));
    await ends(browsers[7] ?? browserOf(account));
    const live = `select from portal_session where account_id = $1 and token_hash is not null and expires_at > now()`;
    expect(await harness.sql(live, [account.accountId])).toHaveLength(20);
    expect(await auditOf('portal_session.end')).toContainEqual({
      actor: `portal_supplier_${account.accountId}`,
      actor_type: 'CLIENT',
      account_id: account.accountId,
      details: {
        actor: '7',
        keyId: expect.any(String),
        portal: { sessionId: expect.any(String), actor: 'user-1', keyId: expect.any(String) },
      },
    });
  });

  test('starts after those of its account that start at the same time', async () => {
    const earlier = await connect(harness.database.databaseUrl);
    const link = await linkTo(supplier);
    await earlier.run(
      `begin; select from api_client where client_id = 'portal_supplier_${supplier.accountId}' for update`,
    );
    const opening = browserOf(supplier).open(link);
    await untilBlocked(earlier);
    await earlier.run('rollback');
    await earlier.close();
    expect(await opening).toMatchObject({ status: 200 });
  });

  test('is refused to a page that shows another session, or none', async () => {
    const browser = await openPortal(supplier);
    const second = await openPortal(supplier);
    const { id } = (await readSession(second)).json;
    expect(outcomeOf(await browser.run('subscriptions', {}, { 'X-Portal-Session': id }))).toEqual(unauthenticated);
    expect(outcomeOf(await browser.run('subscriptions', {}, { 'X-Portal-Session': undefined }))).toEqual(
      unauthenticated,
    );
    expect(outcomeOf(await browser.send({ path: 'session', headers: { 'X-Portal-Session': id } }))).toEqual(
      unauthenticated,
    );
    expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
  });

  test('over HTTP on this machine has a cookie without Secure', async () => {
    const origin = 'http://localhost:4001';
    const service = await harness.startApi('supplier', { PORTAL_ORIGIN: origin }, undefined, parts);
    await service.whenReady;
    const browser = createBrowser(service.url, baseOf(supplier), origin);
    const { portalLink } = await requestLink(supplier, {}, { url: service.url });
    const opened = await browser.open(portalLink?.url ?? '');
    expect(opened.headers['set-cookie']).toEqual([
      expect.stringMatching(/^deedwire-supplier-portal=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/),
    ]);
    expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
    await service.stop();
  });

  test('is refused at the URL of another organization, and with two cookies', async () => {
    const browser = await openPortal(supplier);
    const elsewhere = `${baseOf(harness.accounts.otherSupplier)}session`;
    expect(outcomeOf(await browser.send({ path: elsewhere }))).toEqual(unauthenticated);
    const Cookie = `${browser.cookie()}; other=1; ${browser.cookie()}`;
    expect(outcomeOf(await browser.send({ path: 'session', headers: { Cookie } }))).toEqual(unauthenticated);
    expect(await browser.send({ path: 'session', headers: { Cookie: `a=1; ${browser.cookie()}` } })).toMatchObject({
      status: 200,
    });
  });

  test('authenticates no request to the endpoint of clients', async () => {
    const browser = await openPortal(supplier);
    const body = { query: operations.subscriptions };
    expect(outcomeOf(await browser.send({ method: 'POST', path: '/supplier/graphql', body }))).toEqual(unauthenticated);
  });
});

/** Sends requests until one is refused because of the limit. */
async function untilLimited(send: () => Promise<Received>): Promise<number[]> {
  const statuses: number[] = [];
  for (let round = 0; round < 20 && !statuses.includes(429); round += 1) {
    const received = await Promise.all(Array.from({ length: 80 }, send));
    statuses.push(...received.map(({ status }) => status));
  }
  expect(statuses).toContain(429);
  return statuses;
}

describe('requests of other sites', () => {
  const foreign: NonNullable<Sent['headers']>[] = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: `${portalOrigin}:8443` },
    { Host: 'evil.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
  ];

  test.each(foreign)('are refused: %j', async (headers) => {
    const browser = await openPortal(supplier);
    const link = await linkTo(supplier);
    expect(outcomeOf(await browser.run('subscriptions', {}, headers))).toEqual(unauthenticated);
    expect(outcomeOf(await browser.send({ method: 'DELETE', path: 'session', headers }))).toEqual(unauthenticated);
    expect(outcomeOf(await browser.send({ path: 'session', headers }))).toEqual(unauthenticated);
    expect(outcomeOf(await browserOf(supplier).open(link, headers))).toEqual(unauthenticated);
    expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
    expect(await browserOf(supplier).open(link)).toMatchObject({ status: 200 });
  });

  test.each([
    [{ Host: 'upstream:8080' }, { host: 'upstream:8080', expectedHost: 'portal.example' }],
    [{ Host: `${'a'.repeat(500)}.example` }, { host: undefined, expectedHost: 'portal.example' }],
    [
      { Origin: `https://dw_customer_ABCDEFGHIJKL_${'a'.repeat(43)}_abcdef` },
      { origin: 'https://dw_customer_ABCDEFGHIJKL_[redacted]', expectedOrigin: portalOrigin },
    ],
    [{ Host: 'user:password@portal.example' }, { host: undefined, expectedHost: 'portal.example' }],
    [{ Origin: 'https://user:password@portal.example' }, { origin: undefined, expectedOrigin: portalOrigin }],
    [{ Origin: 'http://[::1]:8080' }, { origin: 'http://[::1]:8080', expectedOrigin: portalOrigin }],
    [{ Origin: 'null' }, { origin: 'null', expectedOrigin: portalOrigin }],
    [{ 'Sec-Fetch-Site': 'cross-site' }, { site: 'cross-site' }],
  ] as [NonNullable<Sent['headers']>, object][])('say in the log what differs: %j', async (headers, differs) => {
    const { headers: received } = await browserOf(supplier).open(await linkTo(supplier), headers);
    const line = await eventually(() => {
      const found = logged.find((each) => each.includes(String(received['x-request-id'])));
      return JSON.parse(found ?? missing());
    });
    expect(line).toMatchObject({ msg: 'credentials refused', reason: 'cross_site', security: true });
    const { host, expectedHost, origin, expectedOrigin, site } = line;
    expect({ host, expectedHost, origin, expectedOrigin, site }).toEqual({ ...differs });
  });

  test('are refused without an Origin', async () => {
    const browser = await openPortal(supplier);
    expect(outcomeOf(await browser.run('subscriptions', {}, { Origin: undefined }))).toEqual(unauthenticated);
    expect(outcomeOf(await browserOf(supplier).open(await linkTo(supplier), { Origin: undefined }))).toEqual(
      unauthenticated,
    );
  });

  test('cannot come from a form', async () => {
    const browser = await openPortal(supplier, { abilities: ['READ', 'OPERATE'] });
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=a'])
      for (const path of ['graphql', 'session']) {
        const headers = { 'Content-Type': type };
        expect(outcomeOf(await browser.send({ method: 'POST', path, body: '{}', headers }))).toEqual([
          415,
          'UNSUPPORTED_MEDIA_TYPE',
        ]);
      }
  });

  test('without a session are limited per address, and delay no session', async () => {
    const browser = await openPortal(supplier);
    expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
    const invented = { Cookie: `__Host-deedwire-supplier-portal=${'A'.repeat(43)}` };
    const link = `${portalOrigin}/#link=${'A'.repeat(43)}`;
    for (const send of [
      () => browserOf(supplier).send({ path: 'session', headers: invented }),
      () => browserOf(supplier).run('subscriptions'),
      () => browserOf(supplier).open(link),
    ]) {
      await rest();
      const statuses = await untilLimited(send);
      expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(50);
      expect(await browser.run('subscriptions')).toMatchObject({ status: 200 });
    }
    await rest();
  });
});

describe('abilities', () => {
  const needs: Record<OperationName, string[]> = {
    subscriptions: [],
    subscription: [],
    delivery: [],
    payload: ['READ_PAYLOAD'],
    exchange: ['READ_PAYLOAD'],
    pause: ['OPERATE'],
    rename: ['CONFIGURE'],
    rotate: ['READ_PAYLOAD', 'CONFIGURE'],
  };

  test.each([
    [['READ']],
    [['READ', 'READ_PAYLOAD']],
    [['READ', 'OPERATE']],
    [['READ', 'READ_PAYLOAD', 'CONFIGURE']],
    [['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE']],
  ])('%j allow their documents, and no others', async (abilities) => {
    const browser = await openPortal(supplier, { abilities });
    const id = 'gid://service/WebhookDelivery/1';
    for (const [name, needed] of Object.entries(needs) as [OperationName, string[]][]) {
      const response = await browser.run(name, name === 'subscriptions' ? {} : { id, input: { id } });
      const isAllowed = needed.every((ability) => abilities.includes(ability));
      expect([name, ...outcomeOf(response)]).toEqual([name, ...(isAllowed ? [200, null] : [403, 'FORBIDDEN'])]);
    }
  });

  test('a session changes what its account has, and its changes are audited with its actor', async () => {
    const own = await insertSubscription(harness, 'supplier', supplier);
    const browser = await openPortal(supplier, { abilities: ['READ', 'OPERATE'], actor: 'user-4711' });
    const paused = await browser.run('pause', { input: { id: own.gid } });
    expect(paused.json.data).toEqual({
      pauseWebhookSubscription: { webhookSubscription: { id: own.gid, status: 'PAUSED' }, userErrors: [] },
    });
    const { id: sessionId } = (await readSession(browser)).json;
    expect((await auditOf('webhook_subscription.pause'))[0]).toMatchObject({
      actor: `portal_supplier_${supplier.accountId}`,
      details: { portal: { sessionId, actor: 'user-4711', keyId: expect.any(String) } },
    });
  });

  test('a session sees and changes nothing of another account', async () => {
    const foreign = await insertSubscription(harness, 'supplier', harness.accounts.otherSupplier);
    const delivery = await insertDelivery(harness, foreign);
    const abilities = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'];
    const browser = await openPortal(supplier, { abilities });
    const read = async (name: OperationName, variables: object) => (await browser.run(name, variables)).json.data;
    expect(await read('subscription', { id: foreign.gid })).toEqual({ webhookSubscription: null });
    expect(await read('payload', { id: delivery.gid })).toEqual({ webhookDelivery: null });
    const userErrors = [{ code: 'NOT_FOUND' }];
    expect(await read('pause', { input: { id: foreign.gid } })).toEqual({
      pauseWebhookSubscription: { webhookSubscription: null, userErrors },
    });
    expect(await read('rotate', { input: { id: foreign.gid } })).toEqual({
      rotateWebhookSecret: { webhookSecret: null, userErrors },
    });
  });

  test('a session sends no other document, and cannot create a link', async () => {
    const abilities = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'];
    const browser = await openPortal(supplier, { abilities });
    const variables = { input: { abilities: ['READ'], actor: 'a' } };
    for (const body of [
      { query: createLink, variables },
      { documentId: 'toString', variables },
      { documentId: 'A'.repeat(64), query: createLink, variables },
    ])
      expect(outcomeOf(await browser.send({ method: 'POST', path: 'graphql', body }))).toEqual([404, 'NOT_FOUND']);
    const empty = await browser.send({ method: 'POST', path: 'graphql', body: '' });
    expect(empty.json.errors[0].message).toContain('Send a JSON object with a "documentId"');
  });
});

describe('requests for a session', () => {
  const account = harness.accounts.otherSupplier;
  const client = `portal_supplier_${account.accountId}`;

  /** Of all clients of the portal for the account. A point is restored in a second. Fewer than none are left without points for a while. */
  async function leavePoints(points: number): Promise<void> {
    await harness.sql(
      'update cost_bucket set points = $2, settled_at = clock_timestamp() where api_client_id = (select id from api_client where client_id = $1)',
      [client, points],
    );
  }

  test('have the price of a mutation that writes a record, and of a point once a minute to read it', async () => {
    const earlier = await openPortal(account);
    await harness.sql(`update api_client set cost_maximum = 1000, cost_restore_rate = 1 where client_id = $1`, [
      client,
    ]);
    // The session and the links were read with the earlier limit.
    await sleep(1_000);
    const reader = await openPortal(account);
    expect(await readSession(reader)).toMatchObject({ status: 200, headers: { ratelimit: expect.any(String) } });
    const link = await linkTo(account);
    await leavePoints(-60);

    const polled = await Promise.all(Array.from({ length: 20 }, () => readSession(reader)));
    expect(polled.map(({ status }) => status)).toEqual(polled.map(() => 200));
    for (const [cost, refused] of [
      [1, () => readSession(earlier)],
      [12, () => earlier.send({ method: 'DELETE', path: 'session' })],
      [12, () => browserOf(account).open(link)],
    ] as const) {
      await leavePoints(-60);
      const response = await refused();
      expect([...outcomeOf(response), costOf(response)]).toEqual([429, 'RATE_LIMITED', cost]);
      expect(response.headers).toMatchObject({
        'retry-after': expect.stringMatching(/^[1-9]\d*$/),
        ratelimit: expect.any(String),
        'ratelimit-policy': expect.any(String),
        // It is the connection of a client.
        connection: 'keep-alive',
      });
    }
    // The pace of refusals.
    await leavePoints(-60);
    const refusals = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const { status } = await earlier.send({ method: 'DELETE', path: 'session' });
        return { status, atMs: performance.now() };
      }),
    );
    expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 429));
    const times = refusals.map(({ atMs }) => atMs);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(700);

    await leavePoints(1000);
    await eventually(async () => expect(await browserOf(account).open(link)).toMatchObject({ status: 200 }));
    expect(await earlier.send({ method: 'DELETE', path: 'session' })).toMatchObject({ status: 204 });
    await harness.sql(`update api_client set cost_maximum = 2000, cost_restore_rate = 200 where client_id = $1`, [
      client,
    ]);
  });
});

test('a session has its own points and refusals, and counts as one client', async () => {
  const account = harness.accounts.customer;
  const browser = await openPortal(account);
  const client = `portal_customer_${account.accountId}`;
  await harness.sql(`update api_client set cost_maximum = 1000, cost_restore_rate = 1 where client_id = $1`, [client]);
  await harness.sql(
    'update cost_bucket set points = 20 where api_client_id = (select id from api_client where client_id = $1)',
    [client],
  );
  await rest();
  let response = await browser.run('subscriptions');
  for (let count = 0; count < 5_000 && response.status === 200; count += 1)
    response = await browser.run('subscriptions');
  expect(outcomeOf(response)).toEqual([429, 'RATE_LIMITED']);
  expect(response.headers).toMatchObject({ 'retry-after': expect.any(String), ratelimit: expect.any(String) });
  const link = await requestLink(account);
  expect(link.userErrors).toEqual([]);
  // The pace of refusals. A point is regained meanwhile.
  const started = performance.now();
  const refusals = await Promise.all(Array.from({ length: 40 }, () => browser.run('subscriptions')));
  const seconds = (performance.now() - started) / 1_000;
  expect(refusals.filter(({ status }) => status === 429).length).toBeGreaterThan(36 - seconds);
  expect(seconds).toBeGreaterThan(0.7);
});

test('no log contains the token of a link or of a session', async () => {
  const link = await linkTo(supplier);
  const browser = browserOf(supplier);
  await browser.open(link);
  await browser.run('subscriptions');
  await browser.run('subscriptions', {}, { 'X-Portal-Session': 'other' });
  await browser.run('pause', { input: { id: 'a' } });
  await browserOf(supplier).open(link);
  await browser.send({ method: 'DELETE', path: 'session' });
  doWaitingWork();
  const tokens = [link.split('=')[1] ?? '', browser.cookie().split('=')[1] ?? ''];
  expect(tokens.map(({ length }) => length)).toEqual([43, 43]);
  await eventually(() =>
    expect(logged.filter((line) => line.includes('"code":"FORBIDDEN"')).length).toBeGreaterThan(0),
  );
  for (const token of tokens) expect(logged.filter((line) => line.includes(token))).toEqual([]);
  expect(logged.filter((line) => line.includes('__Host-'))).toEqual([]);
});

/** The headers that are the same in each response. */
const lastingOf = ({ headers }: Received): object =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !['date', 'x-request-id', 'ratelimit'].includes(name)));

describe('pages', () => {
  const browser = browserOf(supplier);

  test('are sent for each path, with the base of the organization and the header prefix, and never cached', async () => {
    const changes = `<meta name="payload-changes" content="${baseOf(supplier)}assets/payload-changes-<hash>.json" />`;
    for (const path of ['', 'deliveries/1?status=FAILED', 'subscriptions/7/pin', 'recover/completeness']) {
      const { status, text, headers } = await browser.send({ path });
      expect({ status, text: text.replace(/(?<=payload-changes-)[\w-]{8}(?=\.json)/, '<hash>') }).toEqual({
        status: 200,
        text: `<meta name="header-prefix" content="X-Service" />${changes}<script>${reloadScript}</script><script type="module" src="${baseOf(supplier)}assets/app-1.js"></script>`,
      });
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': `default-src 'none'; script-src 'self' 'sha256-${hash('sha256', reloadScript, 'base64')}'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      });
    }
  });

  test('have files that never change, and no others', async () => {
    expect(await browser.send({ path: 'assets/app-1.js' })).toMatchObject({
      status: 200,
      text: 'const text = "é";',
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      },
    });
    expect(await browser.send({ path: 'assets/reload.js' })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' },
    });
    // A browser of `full/portal-pages.test.ts` runs what is compressed. Nothing is sent in a longer form.
    for (const accepted of [undefined, 'br, GZIP', 'gzip;q=0, identity']) {
      const { headers } = await browser.send({ path: 'assets/app-1.js', headers: { 'Accept-Encoding': accepted } });
      expect([headers['vary'], headers['content-encoding']]).toEqual([undefined, 'gzip']);
    }
    for (const path of [
      'assets/',
      'assets/none.js',
      'assets/../secret.txt',
      'assets/..%2fsecret.txt',
      'assets/../documents.json',
      'assets/toString',
    ])
      expect(outcomeOf(await browser.send({ path }))).toEqual([404, 'NOT_FOUND']);
  });

  test.each(['', 'assets/app-1.js', 'assets/none.js', 'session', 'unknown', baseOf(supplier).slice(0, -1)])(
    'answer HEAD as GET, without the body: "%s"',
    async (path) => {
      const session = await openPortal(supplier);
      const [get = missing(), head = missing()] = await Promise.all(
        ['GET', 'HEAD'].map((method) => session.send({ method, path, headers: { Origin: undefined } })),
      );
      expect([head.status, head.text, lastingOf(head)]).toEqual([get.status, '', lastingOf(get)]);
    },
  );

  const forPeople = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  test('without the slash after the account are found with it', async () => {
    const path = `${baseOf(supplier).slice(0, -1)}?status=FAILED&since=2026-01-01`;
    for (const headers of [{}, forPeople]) {
      const { status, headers: received } = await browser.send({ path, headers });
      expect([status, received['location']]).toEqual([308, `${baseOf(supplier)}?status=FAILED&since=2026-01-01`]);
      expect(received).toMatchObject({ 'content-security-policy': expect.any(String), 'cache-control': 'no-store' });
    }
    expect(outcomeOf(await browser.send({ method: 'POST', path }))).toEqual([404, 'NOT_FOUND']);
  });

  test.each(['unknown', 'session/', 'deliveries/x', '../../secret', 'assets/none.js', 'assets/../secret.txt'])(
    'that do not exist are 404, a page for people, and JSON for programs: "%s"',
    async (path) => {
      expect(outcomeOf(await browser.send({ path }))).toEqual([404, 'NOT_FOUND']);
      const { status, text, headers } = await browser.send({ path, headers: forPeople });
      expect({ status, text }).toEqual({ status: 404, text: (await browser.send({})).text });
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
    },
  );

  test.each(['/supplier/portal', '/supplier/portal/', '/supplier/portal/x', '/supplier/portal/x/deliveries'])(
    'without the number of an account say how to get a link: "%s"',
    async (path) => {
      expect(outcomeOf(await browser.send({ path }))).toEqual([404, 'NOT_FOUND']);
      const { status, text, headers } = await browser.send({ path, headers: forPeople });
      expect([status, text]).toEqual([404, expect.stringContaining('<h1>No such page</h1>')]);
      expect(headers).toMatchObject({ 'content-security-policy': expect.any(String), 'cache-control': 'no-store' });
      expect(text).not.toContain('<script');
    },
  );

  test('every response has the security headers, and other methods are refused', async () => {
    for (const sent of [
      { path: 'session' },
      { method: 'POST', path: 'graphql', body: {} },
      { path: 'graphql' },
      { path: 'assets/none' },
      { method: 'PUT', path: 'session' },
      { method: 'POST', path: '' },
    ])
      expect((await browser.send(sent)).headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'cross-origin-opener-policy': 'same-origin',
      });
    const posted = await browser.send({ method: 'POST', path: '' });
    expect([...outcomeOf(posted), posted.headers['allow']]).toEqual([405, 'METHOD_NOT_ALLOWED', 'GET, HEAD']);
    expect((await browser.send({ method: 'PUT', path: 'session' })).headers).toMatchObject({
      allow: 'GET, HEAD, POST, DELETE',
    });
  });

  test('are limited per address, with the session that they ask for, and delay no operation', async () => {
    const service = await harness.startApi('supplier', { ...config, TRUSTED_PROXIES: '127.0.0.1' }, undefined, parts);
    await service.whenReady;
    const session = await openPortal(supplier);
    session.route(service.url);
    const started = performance.now();
    const paths = ['', 'deliveries', 'assets/app-1.js', 'assets/none.js', 'session'];
    const sent = await Promise.all(
      Array.from({ length: 500 }, (_, at) =>
        session.send({ path: paths[at % paths.length] ?? '', headers: from('2001:db8::1') }),
      ),
    );
    const served = sent.filter(({ status }) => status !== 429).length;
    const restored = ((performance.now() - started) / 1000) * 20;
    expect(served).toBeGreaterThanOrEqual(200);
    expect(served).toBeLessThan(201 + restored);

    // The same block of addresses.
    async function untilRefused(path: string): Promise<Received> {
      const send = () => session.send({ path, headers: from('2001:db8::2') });
      const responses = await Promise.all(Array.from({ length: 80 }, send));
      return responses.find(({ status }) => status === 429) ?? untilRefused(path);
    }
    for (const path of ['assets/app-1.js', 'session']) {
      const file = await untilRefused(path);
      expect(outcomeOf(file)).toEqual([429, 'RATE_LIMITED']);
      expect(file.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    }
    const page = await untilRefused('deliveries/1');
    expect(page.headers).toMatchObject({
      'retry-after': '1',
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining(`'sha256-${hash('sha256', reloadScript, 'base64')}'`),
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(page.text).toContain(`<script>${reloadScript}</script>`);
    expect(page.text).toContain('Too many requests');

    expect(await session.run('subscriptions', {}, from('2001:db8::1'))).toMatchObject({ status: 200 });
    expect(await session.send({ headers: from('2001:db8:0:1::1') })).toMatchObject({ status: 200 });
    await service.stop();
  });

  test('are limited with all that is refused before its client is known', async () => {
    const service = await harness.startApi('supplier', { ...config, TRUSTED_PROXIES: '127.0.0.1' }, undefined, parts);
    await service.whenReady;
    const session = await openPortal(supplier);
    session.route(service.url);
    const post = { method: 'POST', path: 'graphql', body: {} };
    const kinds: [number, Sent][] = [
      [200, { method: 'HEAD' }],
      [200, { method: 'HEAD', path: 'assets/app-1.js' }],
      [308, { path: baseOf(supplier).slice(0, -1) }],
      [404, { path: '/supplier/portal/', headers: forPeople }],
      [405, { method: 'PUT' }],
      [405, { method: 'PUT', path: 'assets/app-1.js' }],
      [405, { method: 'PUT', path: 'session' }],
      [405, { path: 'graphql' }],
      [405, { method: 'HEAD', path: 'graphql' }],
      [415, { ...post, headers: { 'Content-Type': 'text/plain' } }],
      [406, { ...post, headers: { Accept: 'text/plain' } }],
      [406, { method: 'DELETE', path: 'session', headers: { Accept: 'text/plain' } }],
    ];
    for (const [index, [status, sent]] of kinds.entries()) {
      const started = performance.now();
      const headers = { ...sent.headers, ...from(`192.0.2.${index}`) };
      const received = await Promise.all(Array.from({ length: 300 }, () => session.send({ ...sent, headers })));
      const served = received.filter((response) => response.status === status).length;
      const restored = ((performance.now() - started) / 1000) * 20;
      expect([served, received.filter((response) => response.status === 429).length]).toEqual([served, 300 - served]);
      expect(served).toBeGreaterThanOrEqual(200);
      expect(served).toBeLessThan(201 + restored);
      expect(await session.run('subscriptions', {}, from(`192.0.2.${index}`))).toMatchObject({ status: 200 });
    }
    await service.stop();
  });

  test.each([
    ['PORTAL is off', { ...config, PORTAL: 'off' }, pages.folder],
    ['there is no origin', {}, pages.folder],
    ['the pages are not built', config, '/nowhere'],
  ] as const)('are 404 when %s, and no link is created', async (_, changed, portalFolder) => {
    const service = await harness.startApi('supplier', changed, undefined, { logger, portalFolder });
    await service.whenReady;
    const off = browserOf(supplier, service.url);
    for (const sent of [{ path: '' }, { path: 'session' }, { path: 'assets/app-1.js' }])
      expect(outcomeOf(await off.send(sent))).toEqual([404, 'NOT_FOUND']);
    expect(outcomeOf(await off.run('subscriptions'))).toEqual([404, 'NOT_FOUND']);
    expect(await requestLink(supplier, {}, { url: service.url })).toEqual({
      portalLink: null,
      userErrors: [{ code: 'PORTAL_UNAVAILABLE', field: null }],
    });
    await service.stop();
  });

  test('without an origin, an app in production says once that it does not serve them', async () => {
    logged.length = 0;
    await (await harness.startApi('supplier', { NODE_ENV: 'production' }, undefined, parts)).stop();
    expect(logged.filter((line) => line.includes('the portal is not served: set PORTAL_ORIGIN'))).toHaveLength(1);
  });
});

describe('deedwire-operator portal', async () => {
  const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
  const operate = (...given: string[]): Promise<OperatorResult> => callOperator(env, 'portal', ...given);
  const account = harness.accounts.customer;

  test('creates a link that reads only, lists its session, and ends it within a second', async () => {
    const options = ['--account', account.id, '--origin', portalOrigin];
    const { exitCode, stdout, stderr } = await operate('link', ...options, '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect((await auditOf('portal_link.create'))[0]).toMatchObject({
      actor: 'ada',
      actor_type: 'OPERATOR',
      details: { actor: 'ada', abilities: ['READ'] },
    });
    const browser = browserOf(account);
    const { json: session } = await browser.open(JSON.parse(stdout).url);
    expect(session).toMatchObject({ abilities: ['READ'], actor: 'ada', returnUrl: null });
    const listed = JSON.parse((await operate('session', 'list', '--account', account.id, '--json')).stdout);
    expect(listed[0]).toMatchObject({ id: session.id, accountId: account.id, actor: 'ada', keyId: null });
    expect((await operate('session', 'list')).stdout).toContain(session.id);
    expect(await operate('session', 'revoke', session.id)).toEqual({
      exitCode: 0,
      stdout: `The session ${session.id} has ended\n`,
      stderr: '',
    });
    await ends(browser);
    expect((await auditOf('portal_session.end'))[0]).toMatchObject({
      actor: 'ada',
      account_id: account.accountId,
      details: { actor: 'ada' },
    });
    expect(await operate('session', 'revoke', session.id)).toMatchObject({ exitCode: 1, stdout: '' });
    const again = JSON.parse((await operate('session', 'list', '--account', account.id, '--json')).stdout);
    expect(again.map(({ id }: { id: string }) => id)).not.toContain(session.id);
  });

  test('takes abilities, an actor, a page and an expiry, and refuses other values', async () => {
    const subscription = await insertSubscription(harness, 'customer', account);
    const options = ['--account', account.id, '--origin', portalOrigin];
    const { stdout } = await operate(
      'link',
      ...options,
      ...'--ability OPERATE --ability READ_PAYLOAD --actor support-1 --return-url https://app.example/'.split(' '),
      ...`--subscription ${subscription.gid} --expires-in 10m`.split(' '),
    );
    expect((await browserOf(account).open(stdout.trim())).json).toMatchObject({
      abilities: ['READ', 'OPERATE', 'READ_PAYLOAD'],
      actor: 'support-1',
      returnUrl: 'https://app.example/',
      subscriptionId: subscription.gid,
    });
    expect(await operate('link', '--account', account.id)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Set PORTAL_ORIGIN'),
    });
    for (const wrong of [
      ['--ability', 'WRITE'],
      ['--origin', 'http://portal.example'],
      ['--expires-in', 'x'],
    ])
      expect(await operate('link', ...options, ...wrong)).toMatchObject({ exitCode: 2 });
    expect(await operate('link', ...options, '--expires-in', '11m')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('60 to 600 seconds'),
    });
    expect(await operate('link', ...options, '--actor', 'ada@supplier.example')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The actor contains @'),
    });
  });

  test('the client of the portal gets no key and no pin', async () => {
    await createPortalLinkOfAccount(
      { ...harness.operator, portalOrigin },
      { accountId: account.id, abilities: ['READ'], actor: 'a' },
    );
    const client = `portal_customer_${account.accountId}`;
    for (const given of [
      ['credential', 'issue', '--account', account.id, '--client', client],
      ['client', 'pin', client, '--schema-version', version],
    ])
      expect(await callOperator(env, ...given)).toMatchObject({
        exitCode: 1,
        stderr: `error: The client ${client} belongs to the portal. Pass another client.\n`,
      });
    const listed = JSON.parse((await callOperator(env, 'client', 'list', '--account', account.id, '--json')).stdout);
    expect(listed).toContainEqual(expect.objectContaining({ clientId: client, liveKeys: 0, schemaVersion: 'portal' }));
  });
});

test('the app does not start with a document that it cannot serve', async () => {
  const wrong = await writePages({ wrong: '{ unknown }' });
  await expect(harness.startApi('supplier', config, undefined, { logger, portalFolder: wrong.folder })).rejects.toThrow(
    'Cannot query field',
  );
  await wrong.remove();
  await expect(
    harness.startApi('supplier', config, { versions: [], problems: [] }, { logger, portalFolder: pages.folder }),
  ).rejects.toThrow('no current version');
});
