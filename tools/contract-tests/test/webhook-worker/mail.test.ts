import type { Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { deleteWebhookSubscription, pauseWebhookSubscription, updateContactEmails } from '@deedwire/actions';
import { testService } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { createLogger } from '@deedwire/service-runtime';
import { createStore } from '@deedwire/store';
import { eventually, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { sendDueMails } from '@deedwire/worker/mail/send-due-mails';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type MailServer,
  mailServerCa,
  parseMail,
  sendsEndlessly,
  startMailServer,
  startScriptedServer,
  startSilentServer,
} from '../support/mail-server.ts';

const harness = await forFile(createHarness());
const store = await forFile(
  createStore({ databaseUrl: await harness.database.urlFor('webhook_worker'), applicationName: 'test' }),
);
const { customer } = harness.accounts;
const receiver = await forFile(startReceiver());
const name = '<b>Orders & "more"</b>';
const { id: subscriptionId } = await harness.subscribe(receiver.url, ['order.placed']);
const number = subscriptionId.slice(subscriptionId.lastIndexOf('/') + 1);
await harness.sql('update webhook_subscription set name = $1', [name]);

await harness.sql(
  `insert into webhook_worker (name, leased_until, sends_mail) values ('w', now() + interval '1 hour', true)`,
);

const context = { store, service: testService, gidNamespace: 'service', now: () => new Date() };
const portalOrigin = 'https://portal.example';
let lines: string[] = [];
const logger = createLogger(
  { name: 'test', level: 'trace', service: testService },
  { write: (line) => lines.push(line) },
);
let counts: string[] = [];

interface ToServer {
  port: number;
  isTls?: boolean;
  credentials?: { user: string; password: string } | null;
  requiresTls?: boolean;
  waitMs?: number;
  signal?: AbortSignal;
}

const send = ({ port, isTls = false, credentials = null, requiresTls = false, waitMs = 10_000, signal }: ToServer) =>
  sendDueMails(
    {
      context,
      logger,
      count: (result) => void counts.push(result),
      from: { name: 'Deedwire', address: 'webhooks@service.example' },
      server: { host: '127.0.0.1', port, isTls, credentials },
      requiresTls,
      waitMs,
      portalOrigin,
      retentionDays: 30,
    },
    signal ?? new AbortController().signal,
  );

/** Has a mail sent to the only contact address, which is confirmed. */
const append = (subject: string, data: object, of = number) =>
  harness.sql('select add_contact_mails($1, $2, $3, null, $4)', [
    customer.accountId,
    subject,
    of,
    JSON.stringify(data),
  ]);

const pausedByOperator = { reason: 'OPERATOR', pausedAt: '2026-11-03T09:30:00.052Z' };

const mailRows = () =>
  harness.sql('select attempts, ended_at is not null as ended, is_sent from contact_mail order by id');
const dueAgain = () => harness.sql(`update contact_mail set next_attempt_at = now() where ended_at is null`);

const tokenIn = (body: string, action: string): string =>
  new RegExp(String.raw`https://portal\.example/customer/portal/mail/${action}\?token=([\w-]{43})`).exec(body)?.[1] ??
  '';

async function start(options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
  return forTest(await startMailServer(options));
}

beforeEach(async () => {
  lines = [];
  counts = [];
  await harness.sql('delete from contact_email');
  await harness.sql('delete from contact_confirmation');
});

const addContact = () =>
  harness.sql(
    `insert into contact_email (account_id, interface, email, confirmed_at) values ($1, 'customer', 'ada@a.test', now())`,
    [customer.accountId],
  );

/** Further mails to the only contact address, of which none waits for another. */
const addConfirmations = (count: number) =>
  harness.sql(
    `insert into contact_mail (contact_id, account_id, interface, subject)
     select id, account_id, interface, 'CONFIRMATION' from contact_email, generate_series(1, $1)`,
    [count],
  );

describe('a mail', () => {
  test('to confirm an address contains its link, and nothing that the account wrote', async () => {
    const server = await start();
    await harness.sql(`update account set name = '<i>The account</i>' where id = $1`, [customer.accountId]);
    await updateContactEmails({ ...harness.customerApi, portalOrigin }, customer, { emails: ['ada@a.test'] });
    await send(server);
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'webhooks@service.example', to: ['ada@a.test'] });
    const { headers, body, head } = parseMail(mail?.source ?? '');
    expect(headers).toMatchObject({
      from: 'Deedwire <webhooks@service.example>',
      to: 'ada@a.test',
      subject: 'Confirm this address for webhook notices',
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<deedwire\.service\.\d+@service\.example>$/),
    });
    expect(head).not.toMatch(/list-unsubscribe/i);
    expect(body).not.toContain('The account');
    expect(body.match(/https:\/\/[^/]+/g)).toEqual(['https://portal.example', 'https://portal.example']);
    expect(tokenIn(body, 'confirm')).toHaveLength(43);
    expect(await mailRows()).toEqual([{ attempts: 1, ended: true, is_sent: true }]);
    expect(counts).toEqual(['sent']);
    expect(lines).toEqual([]);
  });

  test('about a pause escapes what the account wrote, and can be ended by one click', async () => {
    const server = await start();
    await addContact();
    await append('PAUSED', pausedByOperator);
    await send(server);
    const { headers, body } = parseMail(server.mails[0]?.source ?? '');
    expect(headers['subject']).toBe('Webhooks to "<b>Orders & "more"</b>" are paused');
    expect(body).toContain(
      'The subscription "<b>Orders & "more"</b>" was paused at 2026-11-03 09:30 UTC. The operator',
    );
    const html = body.slice(body.indexOf('<!doctype html>'));
    expect(html).toContain('&quot;&lt;b&gt;Orders &amp; &quot;more&quot;&lt;/b&gt;&quot;');
    expect(html).not.toContain('<b>');
    const page = `${portalOrigin}/customer/portal/${customer.credential.organizationId.split('/').at(-1)}/subscriptions/${number}`;
    expect(html).toContain(`<a href="${page}">`);
    const token = tokenIn(body, 'unsubscribe');
    expect(headers).toMatchObject({
      'list-unsubscribe': `<${portalOrigin}/customer/portal/mail/unsubscribe?token=${token}>`,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    });
  });

  test('has no header and no line from a name with line ends', async () => {
    const server = await start();
    await addContact();
    await harness.sql('update webhook_subscription set name = $1', ['a\r\nBcc: eve@a.test\r\n\r\nb\u2028c\u202ed']);
    await append('PAUSED', pausedByOperator);
    await send(server);
    await harness.sql('update webhook_subscription set name = $1', [name]);
    expect(server.mails).toMatchObject([{ to: ['ada@a.test'] }]);
    const { headers, body } = parseMail(server.mails[0]?.source ?? '');
    expect(headers['bcc']).toBeUndefined();
    expect(headers['subject']).toBe('Webhooks to "a Bcc: eve@a.test b c d" are paused');
    expect(body.replaceAll('\u2060', '')).toContain('The subscription "a Bcc: eve@a.test b c d" was paused');
  });

  test('leads nowhere but to the portal, although a name looks like an address', async () => {
    const server = await start();
    await addContact();
    await harness.sql('update webhook_subscription set name = $1', [
      'https://evil.example www.evil.example eve@evil.example',
    ]);
    await append('PAUSED', pausedByOperator);
    await send(server);
    await harness.sql('update webhook_subscription set name = $1', [name]);
    const { body } = parseMail(server.mails[0]?.source ?? '');
    expect(body).toContain(
      'https\u2060://evil\u2060.example www\u2060.evil\u2060.example eve\u2060@evil\u2060.example',
    );
    const links = body.match(/(?:https?:\/\/|www\.)[\w.]+|[\w.]+@[\w.]+/g);
    expect(new Set(links)).toEqual(new Set(['https://portal.example']));
  });

  test.each([
    ['DISRUPTED', { failingSince: '2026-11-03T09:30:00.000Z', consecutiveFailures: 3 }, 'fail'],
    ['RECOVERED', { disruptedAt: '2026-11-03T09:30:00.000Z' }, 'work again'],
    ['FAILED', { since: '2026-11-03T09:30:00.000Z', failedCount: 1_200, webhookDeliveryIds: [] }, 'failed for good'],
  ])('about %s says since when', async (subject, data, words) => {
    const server = await start();
    await addContact();
    await append(subject, data);
    await send(server);
    const { headers, body } = parseMail(server.mails[0]?.source ?? '');
    expect(headers['subject']).toContain(words);
    expect(body).toContain('2026-11-03 09:30 UTC');
  });

  test('about failures has the advice of the portal, or says that they have ended', async () => {
    const server = await start();
    await addContact();
    await harness.sql(
      `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes, failing_since, last_failed_delivery_id)
       select id, url_number, 3, 0, now(), 5 from webhook_subscription`,
    );
    await harness.sql(
      `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
       select new_record_id(), 1, id, 'customer', now(), 5, 404 from webhook_subscription`,
    );
    await harness.sql(
      'update webhook_receiver_state set last_failed_delivery_id = (select max(delivery_id) from webhook_attempt)',
    );
    const disruption = { failingSince: '2026-11-03T09:30:00.000Z', consecutiveFailures: 3 };
    await append('DISRUPTED', disruption);
    await send(server);
    const { body } = parseMail(server.mails[0]?.source ?? '');
    expect(body).toContain('The last failure: The path does not exist. Deploy the receiver at this path');
    expect(body).not.toContain('Since then, its failures have ended');
    await harness.sql('delete from webhook_receiver_state');
    await harness.sql('delete from contact_mail');
    await append('DISRUPTED', disruption);
    await send(server);
    expect(parseMail(server.mails[1]?.source ?? '').body).toContain('Since then, its failures have ended');
  });

  test('about a key that ends names it', async () => {
    const server = await start();
    await addContact();
    const keyId = customer.credential.apiKey.split('_')[2];
    await harness.sql(
      `update api_key set expires_at = now() + interval '6 days', created_at = now() - interval '1 year' where key_id = $1`,
      [keyId],
    );
    await harness.sql('select report_expiring_api_keys(10)');
    await send(server);
    const { headers, body } = parseMail(server.mails[0]?.source ?? '');
    expect(headers['subject']).toBe(`API key "${keyId}" ends soon`);
    expect(body).toContain(`/portal/${customer.credential.organizationId.split('/').at(-1)}/keys`);
  });

  test('is written in the transaction of its event, and not sent about a subscription that was deleted meanwhile', async () => {
    const server = await start();
    await addContact();
    const { id } = await harness.subscribe(receiver.url, ['order.placed']);
    await pauseWebhookSubscription(harness.operator, harness.operator.operator, { id });
    const raise = () => harness.sql(`select webhook_raise_alerts($1, 'service')`, [id.slice(id.lastIndexOf('/') + 1)]);
    await raise();
    expect(
      await harness.sql(`select event_type, subject, data ->> 'reason' as reason
         from webhook_event e join contact_mail m on m.subscription_id = e.about_subscription_id`),
    ).toEqual([{ event_type: 'webhook_subscription.paused', subject: 'PAUSED', reason: 'OPERATOR' }]);
    await deleteWebhookSubscription(harness.customerApi, customer, { id });
    await send(server);
    expect(server.mails).toEqual([]);
    expect(await mailRows()).toEqual([{ attempts: 1, ended: true, is_sent: false }]);
  });
});

describe('a mail server', () => {
  beforeEach(async () => {
    await addContact();
    await append('PAUSED', pausedByOperator);
  });

  test('that closes the connection after the mail gets it again with the same Message-ID', async () => {
    const server = await start();
    server.answer = 'close-after-data';
    await send(server);
    expect(await mailRows()).toEqual([{ attempts: 1, ended: false, is_sent: false }]);
    server.answer = 'accept';
    await dueAgain();
    await send(server);
    const [first, second] = server.mails.map(({ source }) => parseMail(source));
    expect(server.mails).toHaveLength(2);
    expect(second?.headers['message-id']).toBe(first?.headers['message-id']);
    // Of both copies, so that the one that arrives works.
    const tokens = [first, second].map((mail) => tokenIn(mail?.body ?? '', 'unsubscribe'));
    expect(new Set(tokens).size).toBe(2);
    const known = await harness.sql(
      `select from contact_token where token_hash = any (array(select sha256(t::bytea) from unnest($1::text[]) t))`,
      [tokens],
    );
    expect(known).toHaveLength(2);
    expect(await mailRows()).toEqual([{ attempts: 2, ended: true, is_sent: true }]);
  });

  test('that refuses an address for good gets no second attempt, and five such refusals stop the address', async () => {
    const server = await start();
    server.answer = { refuse: 550, status: '5.1.1' };
    await addConfirmations(4);
    await send(server);
    expect(await mailRows()).toEqual(Array.from({ length: 5 }, () => ({ attempts: 1, ended: true, is_sent: false })));
    expect(await harness.sql('select bounces, stopped_at is not null as stopped from contact_email')).toEqual([
      { bounces: 5, stopped: true },
    ]);
    expect(counts).toEqual(Array(5).fill('bounced'));
    expect(server.mails).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toContain('ada');
  });

  test.each([
    ['for now', { refuse: 450, status: '4.2.0' }],
    ['because of its policy', { refuse: 554, status: '5.7.1' }],
    ['without a login', { refuse: 530, status: '5.5.1' }],
    ['because of its sender', { refuse: 550, status: '5.1.8' }],
    ['because of the name of the client', { refuse: 504, status: '5.5.2' }],
    ['because it takes no mails', { refuse: 554, status: '5.3.2' }],
  ])('that refuses an address %s gets the mail later, and its response is not logged', async (_, answer) => {
    const server = await start();
    server.answer = answer;
    await send(server);
    expect(await mailRows()).toEqual([{ attempts: 1, ended: false, is_sent: false }]);
    expect(await harness.sql('select bounces from contact_email')).toEqual([{ bounces: 0 }]);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'warn', mails: 1, command: 'RCPT TO', responseCode: answer.refuse, status: answer.status },
    ]);
    expect(lines.join()).not.toContain('ada');
  });

  test.each(['550 relay not permitted', '553 sorry, that domain is not in my list of allowed rcpthosts (#5.7.1)'])(
    'that does not relay, and says so in its own form, gets the mail later: %s',
    async (reply) => {
      const scripted = await forTest(await startScriptedServer({ RCPT: `${reply}\r\n` }));
      await send({ port: scripted.port });
      expect(await mailRows()).toEqual([{ attempts: 1, ended: false, is_sent: false }]);
      expect(counts).toEqual(['failed']);
    },
  );

  test('that says nothing, or does not run, gets the mail later', async () => {
    const silent = await forTest(await startSilentServer());
    await send({ port: silent.port, waitMs: 100 });
    await silent.close();
    await dueAgain();
    await send({ port: silent.port });
    expect(await mailRows()).toEqual([{ attempts: 2, ended: false, is_sent: false }]);
    expect(counts).toEqual(['failed', 'failed']);
  });

  test.each(['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', '.'] as const)(
    'that says nothing after %s, or never ends its reply, gets the mail later',
    async (step) => {
      for (const reply of [() => {}, sendsEndlessly('250-more\r\n'), sendsEndlessly('x')]) {
        const scripted = await forTest(await startScriptedServer({ [step]: reply }));
        await send({ port: scripted.port, waitMs: 200 });
        expect(scripted.received.at(-1)).toBe(step);
        await dueAgain();
      }
      expect(await mailRows()).toEqual([{ attempts: 3, ended: false, is_sent: false }]);
      expect(counts).toEqual(['failed', 'failed', 'failed']);
    },
  );

  test.each(['CONNECT', 'MAIL', 'DATA', '.'] as const)(
    'that refuses everything at %s gets the mail later, because it does not refuse the address',
    async (step) => {
      const scripted = await forTest(await startScriptedServer({ [step]: '550 5.1.1 ada@a.test is refused\r\n' }));
      await send({ port: scripted.port });
      expect(await mailRows()).toEqual([{ attempts: 1, ended: false, is_sent: false }]);
      expect(await harness.sql('select bounces from contact_email')).toEqual([{ bounces: 0 }]);
      expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ responseCode: 550, status: '5.1.1' }]);
      expect(lines.join()).not.toContain('ada');
    },
  );

  test('that hangs at one address gets the mails to others meanwhile, and one that takes none ends the run', async () => {
    await addConfirmations(12);
    let [asked, held]: [number, Socket | null] = [0, null];
    const scripted = await forTest(
      await startScriptedServer({
        RCPT(socket) {
          asked += 1;
          if (asked === 1) held = socket;
          else socket.write('250 accepted\r\n');
          if (asked === 13) held?.write('250 accepted\r\n');
        },
      }),
    );
    await send({ port: scripted.port });
    expect(counts).toEqual(Array(13).fill('sent'));
    await harness.sql('update contact_mail set ended_at = null, is_sent = false');
    await dueAgain();
    await send({ port: 1 });
    expect(counts.slice(13).length).toBeLessThan(10);
    expect(new Set(counts.slice(13))).toEqual(new Set(['failed']));
  });

  test('that says nothing does not hold up a process that ends', async () => {
    const silent = await forTest(await startSilentServer());
    const stopping = new AbortController();
    const sending = send({ port: silent.port, signal: stopping.signal });
    await eventually(() => expect(silent.sockets.size).toBe(1));
    stopping.abort();
    await sending;
    await eventually(() =>
      expect([...silent.sockets].every(({ destroyed, readableEnded }) => destroyed || readableEnded)).toBe(true),
    );
    expect(lines).toEqual([]);
  });

  test('without TLS gets no mail and no password, except in development', async () => {
    const server = await start({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const credentials = { user: 'deedwire', password: 'right' };
    await send({ port: server.port, credentials, requiresTls: true });
    expect(server.mails).toEqual([]);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ code: 'ETLS' }]);
    await dueAgain();
    await send({ port: server.port, credentials });
    expect(server.mails).toMatchObject([{ isSecure: false, user: 'deedwire' }]);
  });

  test('whose certificate is not valid gets no mail', async () => {
    const server = await start();
    await send({ port: server.port, requiresTls: true });
    const secure = await start({ secure: true });
    await dueAgain();
    await send({ port: secure.port, isTls: true, requiresTls: true });
    expect([...server.mails, ...secure.mails]).toEqual([]);
    expect(await mailRows()).toEqual([{ attempts: 2, ended: false, is_sent: false }]);
  });

  test.each([
    ['STARTTLS', false],
    ['TLS', true],
  ])('with %s gets the mail and the login', async (_, isTls) => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, mailServerCa]);
    try {
      const server = await start({ secure: isTls });
      await send({ port: server.port, isTls, requiresTls: true, credentials: { user: 'deedwire', password: 'right' } });
      expect(server.mails).toMatchObject([{ isSecure: true, user: 'deedwire' }]);
    } finally {
      setDefaultCACertificates(before);
    }
  });
});

const mailSettings = (port: number) => ({
  PORTAL_ORIGIN: portalOrigin,
  SMTP_URL: { host: '127.0.0.1', port, isTls: false, credentials: null },
  SMTP_FROM: { name: '', address: 'webhooks@service.example' },
});

describe('a worker', () => {
  // It would get a share of the work.
  beforeEach(() => harness.sql('delete from webhook_worker'));

  test('whose mail server says nothing sends deliveries meanwhile, and stops in time', async () => {
    const silent = await forTest(await startSilentServer());
    await addContact();
    // It closes a connection after 15 seconds, and has 5 at a time: these take it minutes.
    await addConfirmations(100);
    const worker = await harness.startWorker(mailSettings(silent.port));
    await eventually(() => expect(silent.sockets.size).toBeGreaterThanOrEqual(5));
    await harness.place(5);
    await receiver.waitFor(5);
    // It still waits for the server, or will.
    expect(await mailRows()).toContainEqual({ attempts: 0, ended: false, is_sent: false });
    expect(await harness.sql('select sends_mail from webhook_worker')).toEqual([{ sends_mail: true }]);
    const stopped = performance.now();
    await harness.stopWorker(worker);
    expect(performance.now() - stopped).toBeLessThan(10_000);
    expect(await mailRows()).toContainEqual({ attempts: 1, ended: false, is_sent: false });
  });

  test('mails an account about the pause of its only endpoint, with the advice of the portal', async () => {
    const server = await start();
    await addContact();
    receiver.onDelivery = (response) => void response.writeHead(410).end();
    const worker = await harness.startWorker(mailSettings(server.port));
    await harness.place(1);
    await eventually(() => expect(server.mails).toHaveLength(1));
    await harness.stopWorker(worker);
    const { body } = parseMail(server.mails[0]?.source ?? '');
    expect(body).toContain('Its receiver responded 410 Gone.');
    expect(body).toContain('The last failure: The receiver says that it is gone');
  });

  test('in production sends no mail without TLS', async () => {
    const server = await start({ disabledCommands: ['STARTTLS'] });
    await addContact();
    await addConfirmations(1);
    const worker = await harness.startWorker({ ...mailSettings(server.port), NODE_ENV: 'production' });
    await eventually(async () => expect(await harness.metrics()).toMatch(/^deedwire_mails_total\{.*failed.*\} 1$/m));
    await harness.stopWorker(worker);
    expect(server.mails).toEqual([]);
  });

  test('without a mail server says so, and interfaces take no address', async () => {
    const worker = await harness.startWorker();
    const refused = await updateContactEmails({ ...harness.customerApi, portalOrigin }, customer, {
      emails: ['ada@a.test'],
    });
    expect(refused).toMatchObject({ contactEmails: null, userErrors: [{ code: 'MAIL_UNAVAILABLE' }] });
    await harness.stopWorker(worker);
  });
});
