import { randomBytes } from 'node:crypto';
import { testService } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { createLogger, doWaitingWork } from '@deedwire/service-runtime';
import { postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { portalOrigin, writePages } from './support/portal-browser.ts';

const harness = await forFile(createHarness());
const pages = await forFile(writePages());
const logged: string[] = [];
const logger = createLogger(
  { name: 'test', level: 'trace', service: testService },
  { write: (line) => logged.push(line) },
);
const config = { PORTAL_ORIGIN: portalOrigin };
const service = await harness.startApi('customer', config, undefined, { portalFolder: pages.folder, logger });
await service.whenReady;
const { customer } = harness.accounts;

await harness.sql(
  `insert into webhook_worker (name, leased_until, sends_mail) values ('w', now() + interval '1 hour', true)`,
);

const tokens = { confirm: '', unsubscribe: '' };

/** An address that is not confirmed, a link to confirm it, and one to end mails about pauses. */
beforeEach(async () => {
  await harness.sql('delete from contact_email');
  await harness.sql('delete from contact_confirmation');
  await harness.sql(`insert into contact_email (account_id, interface, email) values ($1, 'customer', 'ada@a.test')`, [
    customer.accountId,
  ]);
  for (const action of ['confirm', 'unsubscribe'] as const) {
    tokens[action] = randomBytes(32).toString('base64url');
    await harness.sql(
      `insert into contact_token (token_hash, contact_id, account_id, interface, subject, expires_at)
       select sha256($1::bytea), id, account_id, interface, $2, now() + interval '1 hour' from contact_email`,
      [tokens[action], action === 'confirm' ? null : 'PAUSED'],
    );
  }
});

const open = (action: string, token: string, init?: RequestInit) =>
  fetch(`${service.url}/customer/portal/mail/${action}?token=${token}`, init);

const contact = async () =>
  (
    await harness.sql(
      'select confirmed_at is not null as confirmed, unsubscribed_from::text as "unsubscribedFrom" from contact_email',
    )
  )[0];

describe('a link in a mail', () => {
  test.each(['confirm', 'unsubscribe'] as const)('to %s shows a button, and changes nothing', async (action) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await open(action, tokens[action], { method });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
      );
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const body = await response.text();
      expect(body.includes('<form method="post"><button>')).toBe(method === 'GET');
      expect(body).not.toContain(tokens[action]);
    }
    expect(await contact()).toEqual({ confirmed: false, unsubscribedFrom: '{}' });
  });

  test('confirms the address by POST, even a second time', async () => {
    for (let time = 1; time <= 2; time += 1) {
      const response = await open('confirm', tokens.confirm, { method: 'POST' });
      expect(await response.text()).toContain('The address is confirmed');
      expect(response.status).toBe(200);
    }
    expect(await contact()).toEqual({ confirmed: true, unsubscribedFrom: '{}' });
  });

  test('ends mails with its subject by the POST of RFC 8058, without cookies', async () => {
    const response = await open('unsubscribe', tokens.unsubscribe, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('no more mails about subscriptions that are paused');
    expect(await contact()).toEqual({ confirmed: false, unsubscribedFrom: '{PAUSED}' });
  });

  test.each([
    ['an unknown token', () => randomBytes(32).toString('base64url')],
    ['the token of another action', () => tokens.unsubscribe],
    ['no token', () => ''],
    ['two tokens', () => `x&token=${tokens.confirm}`],
    ['a token of another form', () => `${tokens.confirm}0`],
  ])('with %s confirms nothing', async (_, token) => {
    const response = await open('confirm', token(), { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('The link does not work');
    expect(await contact()).toEqual({ confirmed: false, unsubscribedFrom: '{}' });
  });

  test('takes no other method, and has no other path', async () => {
    const response = await open('confirm', tokens.confirm, { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
    expect((await open('other', tokens.confirm, { method: 'POST' })).status).toBe(404);
  });

  test.each([
    ['a long query', () => `?x=${'a'.repeat(12_000)}&token=${tokens.confirm}0`, 404],
    ['a query beyond the limit of headers', () => `?token=${tokens.confirm}&x=${'a'.repeat(40_000)}`, 431],
    ['characters that are none of a token', () => `?token=%00%ff%0d%0a&token=${tokens.confirm}`, 404],
    ['a token in the path', () => `/${tokens.confirm}`, 404],
  ])('with %s confirms nothing', async (_, rest, status) => {
    const response = await fetch(`${service.url}/customer/portal/mail/confirm${rest()}`, { method: 'POST' });
    expect(response.status).toBe(status);
    expect(await contact()).toEqual({ confirmed: false, unsubscribedFrom: '{}' });
  });

  test('confirms the address once, though requests with it arrive at the same time', async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => open('confirm', tokens.confirm, { method: 'POST' })),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(
      await harness.sql(
        `select count(*)::int from audit_entry where action = 'contact_email.confirm' and subject = (select 'ContactEmail/' || id from contact_email)`,
      ),
    ).toEqual([{ count: 1 }]);
  });

  test('is not in the log', async () => {
    await open('confirm', tokens.confirm, { method: 'POST' });
    await open('unsubscribe', tokens.unsubscribe, { method: 'POST' });
    doWaitingWork();
    expect(logged.length).toBeGreaterThan(1);
    expect(logged.join()).not.toContain(tokens.confirm);
    expect(logged.join()).not.toContain(tokens.unsubscribe);
    expect(logged.join()).not.toContain('ada@a.test');
  });
});

const update = (emails: readonly string[]) =>
  postGraphql<{ updateContactEmails: object }>(`${service.url}/customer/graphql`, customer.credential, {
    query: `mutation ($emails: [String!]!) {
      updateContactEmails(input: { emails: $emails }) { contactEmails { email } userErrors { code field message } }
    }`,
    variables: { emails },
  });

describe('contact addresses', () => {
  test.each([
    'ada',
    'ada@localhost',
    'ada@a.test\r\nBcc: eve@a.test',
    'Ada <ada@a.test>',
    'ada@a.test,eve@a.test',
    'adä@a.test',
    '"ada"@a.test',
    `${'a'.repeat(65)}@a.test`,
    `a@${'a.'.repeat(127)}test`,
  ])('are not %j', async (email) => {
    const { body } = await update(['bob@a.test', email]);
    expect(body.data?.updateContactEmails).toEqual({
      contactEmails: null,
      userErrors: [
        {
          code: 'EMAIL_INVALID',
          field: ['input', 'emails', '1'],
          message: expect.stringContaining('name@example.com'),
        },
      ],
    });
  });

  test('are at most 5, are written to the audit log without the addresses, and to no log', async () => {
    const { body } = await update(['1', '2', '3', '4', '5', '6'].map((name) => `${name}@a.test`));
    expect(body.data?.updateContactEmails).toMatchObject({ userErrors: [{ code: 'LIMIT_REACHED' }] });
    logged.length = 0;
    const updated = await update(['eve@a.test', 'EVE@a.test', 'ada@a.test']);
    expect(updated.body.data?.updateContactEmails).toEqual({
      contactEmails: [{ email: 'ada@a.test' }, { email: expect.stringMatching(/^eve@a\.test$/i) }],
      userErrors: [],
    });
    doWaitingWork();
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join()).not.toMatch(/(?:ada|eve)@/i);
    const entries = await harness.sql(
      `select action, subject, details, audit_entry::text as text from audit_entry where action ~ '^contact' order by number desc limit 1`,
    );
    expect(entries).toMatchObject([
      { action: 'contact_emails.update', subject: customer.id, details: { addresses: 2, keyId: expect.any(String) } },
    ]);
    expect(String(entries[0]?.['text'])).not.toContain('@');
  });
});
