import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { formatLogLine } from '@deedwire/dev-environment';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { sdl } from '@deedwire/partner-schema';
import {
  eventually,
  listen,
  missing,
  partOf,
  quotedLines,
  quotingSections,
  type Respond,
  staleQuotes,
  startRawReceiver,
  startReceiver,
} from '@deedwire/testing';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { createWebhookSender, type WebhookSenderOptions } from '@deedwire/webhook-sender';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { toShownAttemptError } from '@deedwire/webhooks/deliveries';
import { buildSchema, isEnumType, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { succeed } from './support/command.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/receiver-troubleshooting.md'), 'utf8');
const schema = buildSchema(sdl('2026-11-01'));
const secret = generateWebhookSecret();

function enumValues(name: string): string[] {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`The schema has no enum ${name}.`);
  return type.getValues().map((value) => value.name);
}

/** The names of host and port in messages are the same in every run. */
const host = 'receiver.test';

const pem = (name: string): string =>
  readFileSync(join(root, `packages/webhook-sender/test/certificates/${name}.pem`), 'utf8');

async function closedAfterTest<Started extends { close(): Promise<void> }>(
  starting: Promise<Started>,
): Promise<Started> {
  const started = await starting;
  onTestFinished(() => started.close());
  return started;
}

function sender(options: Partial<WebhookSenderOptions> = {}) {
  const created = createWebhookSender({
    policy: 'development',
    userAgent: 'Deedwire-Webhooks/test',
    resolve: async () => ['127.0.0.1'],
    ...options,
  });
  onTestFinished(() => created.close());
  return created;
}

/** The message of a handshake that fails with this code. */
async function handshake(code: string, url: string, options?: Partial<WebhookSenderOptions>): Promise<string> {
  const result = await sender(options).verify({ url, secret });
  if (result.verified || result.code !== code) throw new Error(`Expected ${code}: ${JSON.stringify(result)}`);
  return result.message;
}

/** One attempt, in the form in which the page quotes it. */
async function attempt(url: string, options?: Partial<WebhookSenderOptions>): Promise<string> {
  const delivery = { webhookId: 'gid://service/WebhookDelivery/1', body: Buffer.from('{}'), headers: {} };
  const { responseStatus, error } = await sender(options).target({ url, secret }).deliver(delivery);
  return `responseStatus: ${responseStatus}, error: ${error === null ? null : toShownAttemptError(error)}`;
}

/** The URL of an HTTP server that responds like this to handshakes and deliveries. */
async function httpUrl(respond: Respond): Promise<string> {
  const receiver = await closedAfterTest(startReceiver({ onHandshake: respond, onDelivery: respond }));
  return receiver.url.replace('127.0.0.1', host);
}

const statusUrl = (status: number): Promise<string> => httpUrl((response) => response.writeHead(status).end());
const bodyUrl = (body: string, headers = {}): Promise<string> =>
  httpUrl((response) => response.writeHead(200, headers).end(body));
const rawUrl = async (bytes: string): Promise<string> =>
  (await closedAfterTest(startRawReceiver((socket) => void socket.write(bytes)))).url;
const silentUrl = (): Promise<string> => httpUrl(() => {});
const endlessUrl = (): Promise<string> => httpUrl((response) => void response.writeHead(200).write('{'));
const droppingUrl = (): Promise<string> => httpUrl((response) => void response.socket?.destroy());

/** @param cert none: a server that refuses every handshake */
async function tlsUrl(cert?: string, name = host): Promise<string> {
  const server = createTlsServer({ key: pem('receiver-key'), cert });
  server.on('tlsClientError', () => {});
  const { port } = await closedAfterTest(listen(server));
  return `https://${name}:${port}/`;
}

async function plainPortUrl(): Promise<string> {
  const { port } = await closedAfterTest(listen(createServer((socket) => void socket.end('HTTP/1.1 400 Bad\r\n\r\n'))));
  return `https://${host}:${port}/`;
}

/** The URL of a port on which no server listens. */
async function unusedUrl(): Promise<string> {
  return `http://${host}:${await findFreePort()}/`;
}

/** A receiver made with the kit, whose secret is not the one of the subscription. */
async function otherSecretUrl(): Promise<string> {
  const receiver = createWebhookReceiver({ secrets: [generateWebhookSecret()], store: memoryStore(), on: {} });
  const { port } = await closedAfterTest(listen(createHttpServer(nodeHandler(receiver))));
  return `http://${host}:${port}/`;
}

const soon = { timeoutMs: 500 };
const isPublic = { policy: 'public', ...soon } as const;

// The self-signed certificates of the tests, which stand for ones of a public authority.
const trusted = getCACertificates();
const trust = (...certificates: string[]): void => setDefaultCACertificates([...trusted, ...certificates]);
afterAll(() => trust());

/** The messages for each code of a handshake, and of the callback URL before it. */
const handshakes: Record<string, () => Promise<string[]>> = {
  CALLBACK_URL_FORBIDDEN: () =>
    Promise.all([
      handshake('CALLBACK_URL_FORBIDDEN', 'http://example.com/', isPublic),
      handshake('CALLBACK_URL_FORBIDDEN', 'https://example.com:80/', isPublic),
      handshake('CALLBACK_URL_FORBIDDEN', 'https://localhost/', isPublic),
      handshake('CALLBACK_URL_FORBIDDEN', 'https://10.0.0.8/', isPublic),
    ]),
  CALLBACK_URL_INVALID: () =>
    Promise.all([
      handshake('CALLBACK_URL_INVALID', 'example.com/webhooks'),
      handshake('CALLBACK_URL_INVALID', 'https://me:password@example.com/'),
      handshake('CALLBACK_URL_INVALID', 'https://a..example.com/'),
      handshake('CALLBACK_URL_INVALID', 'https://-a.example.com/'),
      handshake('CALLBACK_URL_INVALID', 'https://example.com./'),
    ]),
  VERIFICATION_STATUS: async () => [
    await handshake('VERIFICATION_STATUS', await otherSecretUrl()),
    await handshake('VERIFICATION_STATUS', await statusUrl(404)),
  ],
  VERIFICATION_MISMATCH: async () => [
    await handshake('VERIFICATION_MISMATCH', await bodyUrl('ok')),
    await handshake('VERIFICATION_MISMATCH', await bodyUrl('{"ok":true}')),
    await handshake('VERIFICATION_MISMATCH', await bodyUrl('{"verification_token":"other"}')),
    await handshake('VERIFICATION_MISMATCH', await bodyUrl('{}', { 'content-encoding': 'gzip' })),
  ],
  VERIFICATION_REDIRECT: async () => [
    await handshake(
      'VERIFICATION_REDIRECT',
      await httpUrl((response) => response.writeHead(308, { location: '/webhooks/' }).end()),
    ),
  ],
  VERIFICATION_TIMEOUT: async () => [
    await handshake('VERIFICATION_TIMEOUT', await silentUrl(), soon),
    await handshake('VERIFICATION_TIMEOUT', await endlessUrl(), soon),
  ],
  async VERIFICATION_UNREACHABLE() {
    const code = 'VERIFICATION_UNREACHABLE';
    const untrusted = await handshake(code, await tlsUrl(pem('receiver')));
    trust(pem('receiver'), pem('expired'));
    return [
      untrusted,
      await handshake(code, `https://${host}/`, isPublic),
      await handshake(code, await unusedUrl()),
      await handshake(code, await tlsUrl(pem('expired'))),
      await handshake(code, await tlsUrl(pem('receiver'), 'other.test')),
      await handshake(code, await tlsUrl()),
      await handshake(code, await plainPortUrl()),
      await handshake(code, await droppingUrl()),
      await handshake(code, await rawUrl('SSH-2.0-OpenSSH\r\n')),
    ];
  },
};

const attempts: Record<string, () => Promise<string[]>> = {
  'The status is not 2xx': () =>
    Promise.all([301, 401, 404, 409, 500, 503].map(async (status) => attempt(await statusUrl(status)))),
  TIMEOUT: async () => [await attempt(await silentUrl(), soon), await attempt(await endlessUrl(), soon)],
  CONNECTION_FAILED: async () => [await attempt(await unusedUrl())],
  DNS_FAILED: async () => [await attempt(`https://${host}/`, isPublic)],
  TLS_FAILED: async () => [await attempt(await tlsUrl(pem('receiver'), 'other.test'))],
  ADDRESS_FORBIDDEN: async () => [await attempt('https://10.0.0.8/', isPublic)],
  PROTOCOL_ERROR: async () => [await attempt(await rawUrl('SSH-2.0-OpenSSH\r\n'))],
};

const ofCreation = quotingSections(page, 'Creating a subscription');

describe('creating a subscription', () => {
  test('the page has a section for each code that depends on the receiver', () => {
    const codes = enumValues('CreateWebhookSubscriptionUserErrorCode');
    // Their descriptions in the schema are enough.
    const others = /^(?:EVENT_TYPES_INVALID|IDEMPOTENCY_\w+|LIMIT_REACHED|VERIFICATION_RATE_LIMITED)$/;
    expect(ofCreation.map(({ heading }) => heading).toSorted()).toEqual(
      codes.filter((code) => !others.test(code)).toSorted(),
    );
  });

  test.each(ofCreation.filter(({ heading }) => heading in handshakes))(
    'a handshake fails as the page quotes for $heading',
    async ({ heading, quotes }) => {
      expect(quotes).not.toEqual([]);
      const lines = (await handshakes[heading]?.()) ?? [];
      expect({ stale: staleQuotes(quotes, lines), lines }).toEqual({ stale: [], lines });
    },
  );
});

describe('the attempts of a delivery', () => {
  const sections = quotingSections(page, 'Attempts of a delivery');

  test('the page has a section for each error of an attempt', () => {
    const [first, ...errors] = sections.map(({ heading }) => heading);
    expect(first).toBe('The status is not 2xx');
    expect(errors.toSorted()).toEqual(enumValues('WebhookAttemptError').toSorted());
  });

  // No receiver can cause it, so it has no quotes.
  const quoting = sections.filter(({ heading }) => heading !== 'RENDERING_FAILED');
  test.each(quoting)('they are those that the page quotes for $heading', async ({ heading, quotes }) => {
    expect(quotes).not.toEqual([]);
    const lines = (await attempts[heading]?.()) ?? [];
    expect({ stale: staleQuotes(quotes, lines), lines }).toEqual({ stale: [], lines });
  });
});

test('the page has a section for each reason for which a subscription is paused', () => {
  const headings = quotingSections(page, 'Paused subscriptions').map(({ heading }) => heading);
  expect(headings.toSorted()).toEqual(enumValues('WebhookPausedReason').toSorted());
});

const part = partOf(page, 'Look at both sides');
const [attemptQuote = '', portQuote = ''] = quotedLines(part);
const [, query = ''] = /^```graphql\n(.*?)^```$/ms.exec(part) ?? [];

test('`pnpm dev --receiver` reports a used port as the page quotes it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'troubleshooting-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const { port } = await closedAfterTest(listen(createServer()));
  const dev = join(root, 'tools/dev-environment/src/dev.ts');
  const apiPorts = { LENDER_API_PORT: '0', PARTNER_API_PORT: '0' };
  const adminPorts = { LENDER_API_ADMIN_PORT: '0', PARTNER_API_ADMIN_PORT: '0', WEBHOOK_WORKER_PORT: '0' };
  const env = { ...apiPorts, ...adminPorts, RECEIVER_PORT: String(port), DEEDWIRE_HOME: home };
  const failure = await succeed(process.execPath, ['--conditions=deedwire-source', dev, '--receiver'], {
    cwd: root,
    env,
  }).then(
    () => 'no error',
    (error: Error) => error.message,
  );
  expect(staleQuotes([portQuote], failure.split('\n'))).toEqual([]);
});

describe('a system', () => {
  let system: SharedSystem;

  beforeAll(async () => {
    system = await joinSharedSystem();
  });

  afterAll(() => system.close());

  interface UserErrors {
    createWebhookSubscription: { userErrors: { code: string; message: string }[] };
  }

  /** The errors of a subscription at the partner interface. */
  async function subscribe(input: object): Promise<UserErrors['createWebhookSubscription']['userErrors']> {
    const document = `mutation ($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { userErrors { code message } }
    }`;
    const { createWebhookSubscription } = await system.partner.request<UserErrors, object>(parse(document), {
      input: { callbackUrl: 'https://example.com/', eventTypes: [{ type: 'referral.created' }], ...input },
    });
    return createWebhookSubscription.userErrors;
  }

  /** The message of an input that is rejected with this code, without a handshake. */
  async function rejection(code: string, input: object): Promise<string> {
    const [error, ...others] = await subscribe(input);
    if (error?.code !== code || others.length > 0) throw new Error(`Expected ${code}: ${JSON.stringify(error)}`);
    return error.message;
  }

  const rejections: Record<string, () => Promise<string[]>> = {
    EVENT_TYPE_UNKNOWN: async () => [
      await rejection('EVENT_TYPE_UNKNOWN', { eventTypes: [{ type: 'referral.convertd' }] }),
    ],
    EVENT_VERSION_UNKNOWN: async () => [
      await rejection('EVENT_VERSION_UNKNOWN', { eventTypes: [{ type: 'referral.converted', version: '2025-11-01' }] }),
    ],
    WEBHOOK_SECRET_INVALID: async () => [
      await rejection('WEBHOOK_SECRET_INVALID', { webhookSecret: `whsec_${Buffer.alloc(16).toString('base64')}` }),
      await rejection('WEBHOOK_SECRET_INVALID', { webhookSecret: `${secret}\n` }),
    ],
  };

  test.each(ofCreation.filter(({ heading }) => !(heading in handshakes)))(
    'rejects an input as the page quotes for $heading',
    async ({ heading, quotes }) => {
      expect(quotes).not.toEqual([]);
      const lines = (await rejections[heading]?.()) ?? [];
      expect({ stale: staleQuotes(quotes, lines), lines }).toEqual({ stale: [], lines });
    },
  );

  test('answers the query of the page and logs the attempt as `pnpm dev` prints it', async () => {
    const unauthorized = { number: 1, responseStatus: 401, error: null };
    const receiver = await closedAfterTest(startReceiver());
    receiver.onDelivery = (response) => response.writeHead(401).end();
    expect(await subscribe({ callbackUrl: receiver.url })).toEqual([]);
    const { headers } = await system.partner.send(parse(refer), {});
    const requestId = headers.get('x-request-id') ?? missing();
    await eventually(async () => {
      expect(await system.partner.request(parse(query), {})).toMatchObject({
        webhookSubscriptions: { nodes: [{ callbackUrl: receiver.url, status: 'ACTIVE', pausedReason: null }] },
        webhookDeliveries: {
          // A slow machine may see a retry as well.
          nodes: [{ status: 'PENDING', attempts: expect.arrayContaining([expect.objectContaining(unauthorized)]) }],
        },
      });
    });
    await eventually(async () => {
      const lines = (await system.logLines(requestId)).map((line) => formatLogLine('webhook-worker', line));
      expect(staleQuotes([attemptQuote], lines)).toEqual([]);
    });

    // 410 is the only response after which Deedwire does not retry.
    receiver.onDelivery = (response) => response.writeHead(410).end();
    await eventually(async () => {
      expect(await system.partner.request(parse(query), {})).toMatchObject({
        webhookSubscriptions: { nodes: [{ status: 'PAUSED', pausedReason: 'GONE' }] },
        webhookDeliveries: { nodes: [{ status: 'PENDING', nextAttemptAt: null }] },
      });
    });
  });
});

const refer = 'mutation { createReferral(input: { clientName: "Ada Example" }) { userErrors { message } } }';
