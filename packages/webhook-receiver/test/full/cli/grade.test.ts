import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { compileCache, cpuMsOf, eventually, listen, startConnectProxy } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret, signWebhook, verifyWebhook } from '@deedwire/webhook-signing';
import { describe, expect, test, vi } from 'vitest';
import { type Grade, gradeReceiver } from '../../../src/cli/grade.ts';
import { checks } from '../../../src/cli/grading-checks.ts';
import type { GradeOptions } from '../../../src/cli/grading.ts';
import { hiderOf } from '../../../src/cli/header-echo.ts';
import { createWebhookReceiver } from '../../../src/index.ts';
import { memoryStore } from '../../../src/memory.ts';
import { nodeHandler } from '../../../src/node.ts';
import { call } from '../../support/call.ts';
import { orderEvents } from '../../support/event-packages.ts';
import * as events from '../../support/order-events/index.ts';
import { parseWebhookBody } from '../../support/order-events/index.ts';
import { serversOfFile } from '../../support/servers-of-file.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const bin = fileURLToPath(new URL('../../../src/bin.ts', import.meta.url));
const silent = { error: () => {}, warn: () => {} };
const [secret, nextSecret] = [generateWebhookSecret(), generateWebhookSecret()];

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
  readonly socket: Socket;
}

interface Response {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A receiver without the kit, part by part. A wrong one replaces a part. */
interface Parts {
  secrets: readonly string[];
  read(incoming: IncomingMessage): Promise<string>;
  headersOf(incoming: IncomingMessage): Record<string, string[]>;
  /** Responds before the signature is verified. Null otherwise. */
  before(request: Request): Response | null;
  isAuthentic(request: Request): boolean;
  handshake(token: string): Response;
  /** Whether the delivery is new, and remembered. */
  remember(id: string): Promise<boolean>;
  event(body: string): Response | null;
}

interface Running {
  readonly url: URL;
  effects: number;
}

const verified = (
  { headers, body }: Request,
  secrets: readonly string[] = [secret, nextSecret],
  now?: Date,
): boolean => {
  try {
    verifyWebhook({ prefix: 'X-Service', headers, body, secret: secrets, ...(now && { now }) });
    return true;
  } catch {
    return false;
  }
};

const signedAt = ({ headers }: Request): Date => new Date(Number(String(headers['webhook-timestamp'])) * 1_000);
const signatureOf = ({ headers }: Request): string => String(headers['webhook-signature'] ?? '').replace('v1,', '');
/** Whether a comparison of the signature that was sent with the right one succeeds. */
const isRight = (request: Request, isEqual: (sent: string, right: string) => boolean): boolean =>
  [secret, nextSecret].some((each) => {
    const { headers, body } = request;
    const id = [headers['webhook-id']].flat().join(',');
    const timestamp = Number(String(headers['webhook-timestamp']));
    if (!(Math.abs(Date.now() / 1_000 - timestamp) < 300) || !/^[\w:/-]+$/.test(id)) return false;
    const right = signWebhook({ prefix: 'X-Service', id, timestamp, body, secret: each })['webhook-signature'];
    return isEqual(signatureOf(request), right.replace('v1,', ''));
  });

const open = serversOfFile();

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const readAll = async (incoming: IncomingMessage): Promise<string> => (await bytesOf(incoming)).toString();

async function start(wrong: Partial<Parts> = {}): Promise<Running> {
  const ids = new Set<string>();
  const parts: Parts = {
    secrets: [secret, nextSecret],
    read: readAll,
    headersOf: ({ headersDistinct }) =>
      Object.fromEntries(Object.entries(headersDistinct).map(([name, values]) => [name, values ?? []])),
    before: () => null,
    isAuthentic: (request) => verified(request, parts.secrets),
    handshake: (token) => ({ status: 200, body: JSON.stringify({ verification_token: token }) }),
    async remember(id) {
      const isNew = !ids.has(id);
      ids.add(id);
      return isNew;
    },
    event: () => null,
    ...wrong,
  };
  const respond = async (incoming: IncomingMessage): Promise<Response> => {
    const { method = '', socket } = incoming;
    const request = { method, socket, headers: parts.headersOf(incoming), body: await parts.read(incoming) };
    const early = parts.before(request);
    if (early !== null) return early;
    if (method !== 'POST') return { status: 405 };
    if (!parts.isAuthentic(request)) return { status: 401 };
    const parsed = parseWebhookBody(request.body);
    if (parsed.kind === 'verification') return parts.handshake(parsed.verificationToken);
    const refusal = parts.event(request.body);
    if (refusal !== null) return refusal;
    if (await parts.remember(String([request.headers['webhook-id'] ?? []].flat()[0]))) running.effects += 1;
    return { status: 204 };
  };
  const server = createServer((incoming, outgoing) => {
    respond(incoming).then(
      ({ status, headers, body }) => outgoing.writeHead(status, headers).end(body),
      () => outgoing.writeHead(500).end(),
    );
  });
  const { port } = await open(server);
  const running: Running = { url: new URL(`http://127.0.0.1:${port}/webhooks`), effects: 0 };
  return running;
}

async function gradesOf(running: Running, options: Partial<GradeOptions> = {}): Promise<Grade[]> {
  const grades: Grade[] = [];
  const count = async (): Promise<number> => running.effects;
  for await (const each of gradeReceiver({ url: running.url, secret, nextSecret, count, ...options }))
    grades.push(each);
  return grades;
}

const resultsOf = (grades: readonly Grade[], without: string): Record<string, string> =>
  Object.fromEntries(grades.flatMap(({ name, result }) => (result === without ? [] : [[name, result]])));

const typeOf = (body: string): Record<string, unknown> => JSON.parse(body);

/** As the check `tampered` changes a body, and back. */
const withChangedDigit = (request: Request): Request => ({
  ...request,
  body: request.body.replace(/\d(?=\D*$)/, (digit) => `${9 - Number(digit)}`),
});

/** For each check, receivers that fail it and no other one. */
const wrong: Readonly<Record<string, Readonly<Record<string, Partial<Parts>>>>> = {
  redirect: { 'redirects to another path': { before: () => ({ status: 307, headers: { location: '/hooks' } }) } },
  handshake: {
    'returns the token of an example': { handshake: () => ({ status: 200, body: '{"verification_token":"abc"}' }) },
    'returns another key too': {
      handshake: (token) => ({ status: 200, body: JSON.stringify({ verification_token: token, ok: true }) }),
    },
  },
  valid: {
    'fails for each event': { event: () => ({ status: 500 }) },
    'reads the body as Latin-1': { read: async (incoming) => (await bytesOf(incoming)).toString('latin1') },
  },
  tampered: {
    'does not notice a changed digit': {
      isAuthentic: (request) => verified(request) || verified(withChangedDigit(request)),
    },
  },
  'other-secret': {
    'accepts any signature over a body that it knows': {
      isAuthentic: (request) =>
        verified(request) ||
        (signatureOf(request).length === 44 &&
          !isRight(request, (sent, right) => sent.startsWith(right.slice(0, 8))) &&
          [request.headers['webhook-id']].flat().length === 1 &&
          !verified(withChangedDigit(request)) &&
          Math.abs(Date.now() - signedAt(request).getTime()) < 300_000),
    },
    'compares as much as was sent': {
      isAuthentic: (request) =>
        verified(request) || isRight(request, (sent, right) => sent !== '' && right.startsWith(sent)),
    },
    'compares the beginning': {
      isAuthentic: (request) =>
        verified(request) ||
        isRight(request, (sent, right) => sent.length === 44 && sent.slice(0, 6) === right.slice(0, 6)),
    },
  },
  unsigned: {
    'verifies only what is signed': {
      isAuthentic: (request) => request.headers['webhook-signature'] === undefined || verified(request),
    },
    'answers a handshake without a signature': {
      before: ({ headers, body }) =>
        headers['webhook-signature'] === undefined && body.startsWith('{"verification_token":')
          ? { status: 200, body }
          : null,
    },
    'accepts an empty signature': {
      isAuthentic: (request) =>
        verified(request) ||
        (request.headers['webhook-signature'] !== undefined && isRight(request, (sent) => sent === '')),
    },
  },
  stale: {
    'ignores old timestamps': {
      isAuthentic: (request) =>
        verified(request, undefined, new Date(Math.min(Date.now(), signedAt(request).getTime() || Infinity))),
    },
  },
  future: {
    'ignores later timestamps': {
      isAuthentic: (request) =>
        verified(request, undefined, new Date(Math.max(Date.now(), signedAt(request).getTime() || 0))),
    },
  },
  repeated: {
    'remembers nothing': { remember: async () => true },
    'reads before it writes': (() => {
      const ids = new Set<string>();
      return {
        async remember(id: string) {
          const isNew = !ids.has(id);
          await sleep(200);
          ids.add(id);
          return isNew;
        },
      };
    })(),
    'refuses a repeat': (() => {
      const bodies = new Set<string>();
      return {
        event(body: string) {
          const isKnown = bodies.has(body);
          bodies.add(body);
          return isKnown ? { status: 409 } : null;
        },
      };
    })(),
  },
  rotated: {
    'reads the first signature': {
      isAuthentic: (request) => {
        const [first = ''] = String(request.headers['webhook-signature']).split(' ');
        const { 'x-service-webhook-signature-next': _, ...headers } = request.headers;
        return verified({ ...request, headers: { ...headers, 'webhook-signature': first } });
      },
    },
  },
  'rotated-new': { 'has one secret': { secrets: [secret] } },
  'unknown-event': {
    'refuses unknown types': {
      event: (body) => (typeOf(body)['type'] === 'webhook.test' ? null : { status: 400 }),
    },
  },
  'unknown-version': {
    'refuses unknown versions': {
      event: (body) => (typeOf(body)['version'] === '2026-11-01' ? null : { status: 422 }),
    },
  },
  'unknown-field': {
    'refuses unknown fields': {
      event: (body) => (Object.keys(typeOf(body)).length > 5 ? { status: 400 } : null),
    },
  },
  escaped: {
    'removes escapes before it verifies': {
      read: async (incoming) => (await readAll(incoming)).replaceAll(String.raw`\/`, '/'),
    },
  },
  spaced: {
    'removes line breaks before it verifies': {
      read: async (incoming) => (await readAll(incoming)).replaceAll('\n', ''),
    },
  },
  large: {
    'has the body limit of a framework': { event: (body) => (body.length > 100_000 ? { status: 413 } : null) },
  },
  'slow-sending': {
    'joins the chunks as text': {
      async read(incoming) {
        let body = '';
        for await (const chunk of incoming) body += String(chunk);
        return body;
      },
    },
    'stops reading at a pause': {
      async read(incoming) {
        if (Number(incoming.headers['content-length']) > 10_000) return readAll(incoming);
        let body = '';
        incoming.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        for (let length = -1; length < body.length; await sleep(40)) ({ length } = body);
        return body;
      },
    },
  },
  chunked: {
    'reads as many bytes as Content-Length says': {
      read: async (incoming) => (incoming.headers['content-length'] === undefined ? '' : readAll(incoming)),
    },
  },
  'header-case': {
    'compares the case of names': {
      headersOf({ rawHeaders }) {
        const headers: Record<string, string[]> = {};
        for (let index = 0; index < rawHeaders.length; index += 2) {
          const name = rawHeaders[index] ?? '';
          if (name === name.toLowerCase()) (headers[name] ??= []).push(rawHeaders[index + 1] ?? '');
        }
        return headers;
      },
    },
  },
  'header-repeats': {
    'tries each id': {
      isAuthentic: (request) =>
        [request.headers['webhook-id']]
          .flat()
          .some((id) => verified({ ...request, headers: { ...request.headers, 'webhook-id': [id ?? ''] } })),
    },
  },
  'kept-connection': {
    'loses its place after a refusal': (() => {
      const refused = new WeakSet<Socket>();
      return {
        before: ({ socket }: Request) => (refused.has(socket) ? { status: 400 } : null),
        isAuthentic(request: Request) {
          const isAuthentic = verified(request);
          if (!isAuthentic) refused.add(request.socket);
          return isAuthentic;
        },
      };
    })(),
  },
  get: { 'fails for GET': { before: ({ method }) => (method === 'GET' ? { status: 500 } : null) } },
};

// A receiver is graded for two seconds, in which most checks wait.
vi.setConfig({ maxConcurrency: 20 });

test.concurrent('a right receiver passes every check', async () => {
  const grades = await gradesOf(await start());
  expect(resultsOf(grades, 'pass')).toEqual({});
  expect(grades.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
});

test.concurrent('each check has a receiver that fails it', () => {
  expect(Object.keys(wrong)).toEqual(checks.map(({ name }) => name));
});

describe.concurrent.each(Object.entries(wrong))('%s', (name, receivers) => {
  test.each(Object.entries(receivers))('alone fails for a receiver that %s', async (_, parts) => {
    const grades = await gradesOf(await start(parts));
    const results = resultsOf(grades, 'pass');
    // After a redirect, or if every event fails, the other checks would say nothing.
    const skipped = name === 'redirect' || name === 'valid' ? grades.filter(({ result }) => result === 'skipped') : [];
    expect(results).toEqual({ ...resultsOf(skipped, 'pass'), [name]: 'fail' });
    expect(grades.find((each) => each.name === name)?.fix).toMatch(/^\S[^\n]+\.$/);
  });
});

test.concurrent('the kit passes every check, and those of Standard Webhooks', async () => {
  let effects = 0;
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret, nextSecret],
    store: memoryStore(),
    on: { 'webhook.test': { '2026-11-01': () => void (effects += 1) } },
    log: silent,
  });
  const { port } = await open(createServer(nodeHandler(receiver)));
  const url = new URL(`http://localhost:${port}/webhooks`);
  const running = {
    url,
    get effects() {
      return effects;
    },
  };
  expect(resultsOf(await gradesOf(running), 'pass')).toEqual({});
  const standard = await gradesOf(running, { isStandard: true, count: undefined });
  expect(resultsOf(standard, 'pass')).toEqual({ repeated: 'unproven' });
  expect(standard.map(({ name }) => name)).not.toContain('handshake');
});

// The token of a handshake contains such a value.
const header = { name: 'X-Gateway-Key', value: '1' };

test.concurrent('a receiver behind a gateway gets the header with every request, and passes every check', async () => {
  let refused = 0;
  const before = ({ headers }: Request): Response | null => {
    if (headers['x-gateway-key']?.toString() === header.value) return null;
    refused += 1;
    return { status: 404 };
  };
  const grades = await gradesOf(await start({ before }), { header });
  expect({ results: resultsOf(grades, 'pass'), refused }).toEqual({ results: {}, refused: 0 });
});

const certificate = (name: string): string =>
  fileURLToPath(new URL(`../../../../store/test/certificates/${name}.pem`, import.meta.url));

test('grades a receiver with https, including through a proxy', async () => {
  const [key, cert] = await Promise.all(['server-key', 'valid'].map((name) => readFile(certificate(name))));
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store: memoryStore(),
    on: {},
    log: silent,
  });
  const { port } = await forTest(listen(createSecureServer({ key, cert }, nodeHandler(receiver))));
  const proxy = await forTest(startConnectProxy({ target: () => ({ host: '127.0.0.1', port }) }));
  const run = async (...args: string[]): Promise<string> => {
    const env = {
      WEBHOOK_SECRET: secret,
      NODE_EXTRA_CA_CERTS: certificate('ca'),
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxy.url,
      ...compileCache,
    };
    const command = ['--conditions=deedwire-source', bin, 'grade', '--only', 'redirect,valid,kept-connection', ...args];
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  };
  expect(await run(`https://localhost:${port}/`)).toMatch(/\n3 passed\n$/);
  expect(proxy.authorities).toEqual([]);
  // The certificate has no other name: the proxy is asked, and what it reaches is not trusted.
  await expect(run('https://receiver.invalid/', '--allow-remote')).rejects.toMatchObject({
    stdout: expect.stringMatching(/^✗ redirect +Hostname\/IP does not match/),
  });
  expect(proxy.authorities).toEqual(['receiver.invalid:443']);
});

const fixOf = (grades: readonly Grade[], name: string): string =>
  grades.find((each) => each.name === name && each.result === 'fail')?.fix ?? `${name} did not fail`;

const bytesFix = 'Verify the bytes as received: do not decode or join them as text first.';

test.each([
  ['valid', 'reads the body as Latin-1'],
  ['slow-sending', 'joins the chunks as text'],
])('%s says to a receiver that %s what to do', async (name, receiver) => {
  expect(fixOf(await gradesOf(await start(wrong[name]?.[receiver])), name)).toBe(bytesFix);
});

/** What a proxy sends in place of a body. It can change the headers. */
type Change = (body: Buffer, headers: IncomingHttpHeaders) => Buffer;

/** Starts a server that passes each request on, changed. */
async function startProxy(to: URL, change: Change): Promise<Running> {
  const server = createServer((incoming, outgoing) => {
    const forward = async (): Promise<void> => {
      const { method, url: path, headers } = incoming;
      const body = change(await bytesOf(incoming), headers);
      const request = httpRequest(new URL(path ?? '', to), { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 0);
        response.pipe(outgoing);
      });
      request.on('error', () => outgoing.writeHead(502).end());
      request.end(body);
    };
    void forward();
  });
  const { port } = await open(server);
  return { url: new URL(`http://127.0.0.1:${port}/webhooks`), effects: 0 };
}

const lengthReader: Partial<Parts> = {
  ...wrong['chunked']?.['reads as many bytes as Content-Length says'],
  event: (body) => (body === '' ? { status: 400 } : null),
};

async function fixBehind(parts: Partial<Parts>, change: Change): Promise<string> {
  return fixOf(await gradesOf(await startProxy((await start(parts)).url, change)), 'valid');
}

describe('the secret', () => {
  test('is not blamed if a proxy sends chunks, which the receiver does not read', async () => {
    const fix = await fixBehind(lengthReader, (body, headers) => {
      delete headers['content-length'];
      headers['transfer-encoding'] = 'chunked';
      return body;
    });
    expect(fix).toMatch(/^The secret is right: .+ which proxy or middleware compresses, serializes or chunks /);
  });

  test('is not blamed if a proxy serializes the body again', async () => {
    const fix = await fixBehind({}, (body, headers) => {
      const changed = body.toString().replaceAll('":', '": ');
      headers['content-length'] = String(Buffer.byteLength(changed));
      return Buffer.from(changed);
    });
    expect(fix).toMatch(/^The secret is right: /);
  });

  test('is one of the causes if a proxy compresses the body', async () => {
    const fix = await fixBehind({}, (body, headers) => {
      const compressed = gzipSync(body);
      headers['content-length'] = String(compressed.length);
      return compressed;
    });
    expect(fix).toMatch(/^The receiver and this command have different secrets; or a proxy .+\(compresses or /);
  });

  test('is the first of the causes if it is another one', async () => {
    const grades = await gradesOf(await start({ secrets: [nextSecret] }));
    expect(fixOf(grades, 'valid')).toMatch(/^The receiver and this command have different secrets; or /);
  });
});

test('the time is blamed only if the response takes 5 seconds, or what --timeout says', async () => {
  const echo = createServer((request, response) => void sleep(5_200).then(() => request.pipe(response)));
  const { port } = await forTest(listen(echo));
  const ofHandshake = call(['grade', String(port), '--only', 'handshake', '--timeout', '15'], {
    env: { WEBHOOK_SECRET: secret },
  });
  const late = await start({ remember: () => sleep(5_200, true) });
  const ofLate = call(['grade', late.url.href, '--only', 'redirect', '--timeout', '15'], {
    env: { WEBHOOK_SECRET: secret },
  });
  const slow = await start({ remember: () => new Promise(() => {}) });
  const failing = await start({ event: () => ({ status: 500 }) });
  const only = checks.filter(({ name }) => name === 'valid');
  const fixFor = async ({ url }: Running): Promise<string> => {
    const grades: Grade[] = [];
    for await (const each of gradeReceiver({ url, secret }, only)) grades.push(each);
    return fixOf(grades, 'valid');
  };
  expect(await fixFor(slow)).toBe('Respond with 2xx within 5 seconds, after your work is committed.');
  expect(await fixFor(failing)).toBe('See the log of the receiver. Respond with 2xx after your work is committed.');
  expect(await ofHandshake).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('Respond to a handshake within 5 seconds: its time does not depend on'),
  });
  expect(await ofLate).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 passed') });
});

describe('a longer timeout is advised', () => {
  const only = checks.filter(({ name }) => name === 'redirect');
  const longer = ' If it cannot, raise timeoutSeconds of the subscription, up to 15, and pass --timeout.';

  /** @param acceptedAt the number of the request that is acknowledged */
  async function grade(acceptedAt: number): Promise<{ fix: string; requests: number }> {
    let requests = 0;
    const { url } = await start({
      remember: async () => {
        requests += 1;
        return requests === acceptedAt || new Promise(() => {});
      },
    });
    const grades: Grade[] = [];
    for await (const each of gradeReceiver({ url, secret, timeoutMs: 250 }, only)) grades.push(each);
    return { fix: fixOf(grades, 'redirect'), requests };
  }

  test('after three timeouts in a row', async () => {
    const fix = `Respond with 2xx within 0.25 seconds, after your work is committed.${longer}`;
    expect(await grade(0)).toEqual({ fix, requests: 3 });
  });

  test.each([2, 3])('unless request %i is acknowledged in time', async (acceptedAt) => {
    const fix = 'Respond with 2xx within 0.25 seconds, after your work is committed.';
    // A machine that stalls answers later.
    await eventually(async () => expect(await grade(acceptedAt)).toEqual({ fix, requests: acceptedAt }));
  });

  test('unless the connection is not completed', async () => {
    const { port } = await forTest(listen(createTcpServer(() => {})));
    const grades: Grade[] = [];
    // The server accepts the connection, and does not answer the handshake of TLS.
    const url = new URL(`https://127.0.0.1:${port}/`);
    for await (const each of gradeReceiver({ url, secret, timeoutMs: 250 }, only)) grades.push(each);
    expect(fixOf(grades, 'redirect')).toBe('Respond with 2xx within 0.25 seconds, after your work is committed.');
  });
});

test.each(['4', '16', '5.5', 'x'])('refuses a timeout of %s', async (seconds) => {
  const args = ['grade', '4005', '--timeout', seconds];
  expect(await call(args, { env: { WEBHOOK_SECRET: secret } })).toMatchObject({
    exitCode: 2,
    stderr: 'deedwire-webhook-receiver: --timeout must be 5 to 15 seconds.\n',
  });
});

describe('a header', () => {
  const only = checks.filter(({ name }) => name === 'valid');

  const advice =
    'If a gateway requires a header, pass it here with --header, and to the subscription as requestHeader.';
  const bearer = { status: 401, headers: { 'www-authenticate': 'Bearer realm="a"' } };
  const errorType = { 'x-amzn-errortype': 'ForbiddenException' };

  test.each<[what: string, response: Response, fix: string]>([
    ['401 with Bearer', bearer, `${advice} Otherwise, the receiver and this command have different secrets; or `],
    [
      '401 with Basic',
      { status: 401, headers: { 'www-authenticate': 'Basic realm="a"' } },
      `A login protects the URL. Let requests to this path through without a login: their signature authenticates them. ${advice}`,
    ],
    ['401 of Kong', { status: 401, body: '{"message":"No API key found in request"}' }, advice],
    ['401 of Azure', { status: 401, body: '{ "message": "Access denied due to missing subscription key." }' }, advice],
    ['401 of Supabase', { status: 401, body: '{"message":"Missing authorization header"}' }, advice],
    ['403 of Apigee', { status: 403, body: '{"fault":{"faultstring":"Invalid ApiKey"}}' }, advice],
    [
      '403 of AWS',
      { status: 403, headers: errorType, body: '{"message":"Forbidden"}' },
      `${advice} Otherwise, see in the log of the receiver why `,
    ],
  ])('is advised for %s', async (_, response, fix) => {
    const { url } = await start({ before: () => response });
    const grades: Grade[] = [];
    for await (const each of gradeReceiver({ url, secret }, only)) grades.push(each);
    expect(fixOf(grades, 'valid').startsWith(fix)).toBe(true);
  });

  test.each<[what: string, response: Response, fix: string]>([
    ['401 with a challenge', { status: 401, headers: { 'www-authenticate': 'Digest realm="a"' } }, 'A login protects '],
    ['401 of a receiver', { status: 401, body: '{"code":"SIGNATURE_MISMATCH"}' }, 'The receiver and this command '],
    ['403 of a firewall', { status: 403, body: 'Forbidden' }, 'See in the log of the receiver '],
    ['407', { status: 407, headers: { 'proxy-authenticate': 'Basic' } }, 'A proxy asks for its own login, '],
  ])('is not advised for %s', async (_, response, fix) => {
    const { url } = await start({ before: () => response });
    const grades: Grade[] = [];
    for await (const each of gradeReceiver({ url, secret }, only)) grades.push(each);
    expect(fixOf(grades, 'valid')).toMatch(new RegExp(`^${fix}(?!.*--header)`));
  });

  test('that was refused is named', async () => {
    const { url } = await start({ before: () => bearer });
    const grades: Grade[] = [];
    for await (const each of gradeReceiver({ url, secret, header }, only)) grades.push(each);
    const fix = 'If a gateway responds, it refuses the value of X-Gateway-Key, or requires another header. Otherwise, ';
    expect(fixOf(grades, 'valid').startsWith(fix)).toBe(true);
  });

  test.each([
    'Bearer canary-of-a-header',
    'Bearer q7',
    'q7',
    'Basic cTc6cTc=',
    String.raw`Bearer q7"\canary`,
    'q7  canary',
  ])('is not shown if the receiver returns %s', async (value) => {
    let isRedirect = false;
    const { url } = await start({
      before({ headers }) {
        const sent = String(headers['authorization']);
        const token = sent.replace(/^B\S+ /, '');
        return isRedirect
          ? { status: 307, headers: { location: `/?a=${token}&b=${encodeURIComponent(token)}` } }
          : { status: 500, body: `${sent} ${token} ${JSON.stringify({ sent })} ${sent.replaceAll(/ +/g, ' ')}` };
      },
    });
    const env = { WEBHOOK_SECRET: secret, WEBHOOK_HEADER: value };
    for (const format of ['text', 'json', 'junit', 'text', 'json', 'junit']) {
      const args = ['grade', url.href, '--only', 'redirect,valid', '--header', 'Authorization', '--format', format];
      const { exitCode, stdout, stderr } = await call(args, { env });
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/\[hidden:\s+it\s+contains\s+a\s+part\s+of\s+the\s+header\]/);
      expect(stdout + stderr).not.toMatch(/canary|q7|cTc6/);
      isRedirect ||= format === 'junit';
    }
  });

  const password = 'Zq7pa+ss9/Kc2Lm8Rw';
  const bearer9 = `Bearer ${password}`;
  test.each<[what: string, value: string, echo: (sent: string) => string]>([
    ['in Basic', `Basic ${btoa(`ada:${password}`)}`, (sent) => `wrong: ${atob(sent.slice(6))}`],
    ['in Basic, only the password', `Basic ${btoa(`ada:${password}`)}`, (sent) => atob(sent.slice(6)).slice(4)],
    ['in Basic, only a short password', `Basic ${btoa('ada:q7')}`, () => 'Wrong password Q7.'],
    ['in base64', bearer9, (sent) => btoa(sent)],
    ['in base64 of JSON', bearer9, (sent) => btoa(JSON.stringify({ header: sent }))],
    ['in base64 for URLs', `Bearer ${'~?~?~>~>abc'.repeat(2)}`, (sent) => Buffer.from(sent).toString('base64url')],
    ['with an escaped slash', bearer9, (sent) => JSON.stringify(sent).replaceAll('/', String.raw`\/`)],
    ['with an escaped plus', bearer9, (sent) => JSON.stringify(sent).replaceAll('+', String.raw`\u002B`)],
    ['in JSON in JSON', String.raw`Bearer q7"\q7"\q7"`, (sent) => JSON.stringify(JSON.stringify(JSON.stringify(sent)))],
    ['with lower-case escapes of a URL', 'Bearer q7+q7/q7=q7', (sent) => sent.replaceAll(/[+/=]/g, lowerEscape)],
    ['with every character escaped', bearer9, (sent) => sent.replaceAll(/[^]/g, lowerEscape)],
    ['escaped twice', 'Bearer q7+q7/q7=q7', (sent) => encodeURIComponent(encodeURIComponent(sent))],
    ['with named entities', 'Bearer q7&q7<q7>q7', (sent) => sent.replaceAll('&', '&amp;').replaceAll('<', '&lt;')],
    ['with hexadecimal entities', 'Bearer q7=q7=q7=q7', (sent) => sent.replaceAll('=', '&#x3D;')],
    ['with decimal entities', 'Bearer q7=q7=q7=q7', (sent) => sent.replaceAll('=', '&#61;')],
    ['in capitals', bearer9, (sent) => sent.toUpperCase()],
    ['only the beginning', bearer9, (sent) => `${sent.slice(7, 15)}...`],
    ['only the middle', bearer9, (sent) => `a${sent.slice(10, 18)}b`],
    [
      'on several lines',
      bearer9,
      (sent) =>
        sent
          .slice(7)
          .match(/.{1,5}/g)
          ?.join('\r\n') ?? '',
    ],
    ['as a parameter', `Token token="${password}"`, () => `unknown ${password}`],
    ['as a short parameter', 'Token token="q7"', () => 'unknown "q7"'],
    ['of characters without letters', 'Bearer !$!', () => 'unknown: !$!.'],
  ])('is not shown if the receiver returns it %s', async (_, value, echo) => {
    const { url } = await start({
      before: ({ headers }) => ({ status: 500, body: echo(String(headers['authorization'])) }),
    });
    const grades: Grade[] = [];
    const sent = { name: 'Authorization', value };
    for await (const each of gradeReceiver({ url, secret, header: sent }, only)) grades.push(each);
    expect(grades).toMatchObject([{ detail: '500 for an event: "[hidden: it contains a part of the header]"' }]);
  });

  test.each([
    [bearer9, '{"code":"SIGNATURE_MISMATCH","message":"Bearer authentication failed."}'],
    [`Basic ${btoa('ada:q7')}`, 'No login of ada: q71.'],
    ['Bearer abcdefghijkl', 'abcdefg 100% &c. \\'],
  ])('does not hide a response without it: %s', async (value, body) => {
    const { url } = await start({ before: () => ({ status: 500, body }) });
    const grades: Grade[] = [];
    const sent = { name: 'Authorization', value };
    for await (const each of gradeReceiver({ url, secret, header: sent }, only)) grades.push(each);
    expect(grades).toMatchObject([{ detail: `500 for an event: "${body}"` }]);
  });

  test('is looked for in linear time', () => {
    const hide = hiderOf({ name: 'X-Key', value: 'ab'.repeat(2_048) });
    const texts = ['&a', '&#', '&#x1', '\\', '%2', '%25', 'a '].map((part) => part.repeat(50_000));
    const cpuMs = cpuMsOf(() => expect(texts.filter((text) => hide(text) !== text)).toEqual([]));
    expect(cpuMs).toBeLessThan(3_000);
  });

  test('is not sent unencrypted to another machine', async () => {
    const args = ['http://192.0.2.1/', '--allow-remote', '--header', 'X-Key', '--only', 'redirect'];
    expect(await call(['grade', ...args], { env: { WEBHOOK_SECRET: secret, WEBHOOK_HEADER: 'a' } })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'deedwire-webhook-receiver: --header needs https for another machine: http would send its value unencrypted.\n',
    });
  });

  test('has its value from a file, standard input, or a variable', async () => {
    const sent: unknown[] = [];
    const { url } = await start({
      before: ({ headers }) => {
        sent.push(headers['authorization']);
        return null;
      },
    });
    const folder = await tempFolder();
    const [file, envFile] = [join(folder, 'header'), join(folder, '.env')];
    await writeFile(file, 'Bearer of-a-file\n');
    await writeFile(envFile, `WEBHOOK_HEADER="Bearer of-an-env-file"\nWEBHOOK_SECRET=${secret}\n`);
    const grade = ['grade', url.href, '--only', 'redirect', '--header', 'authorization'];
    const env = { WEBHOOK_SECRET: secret };
    const results = [
      await call([...grade, '--header-file', file], { env: { ...env, WEBHOOK_HEADER: 'Bearer of-a-variable' } }),
      await call([...grade, '--header-file', '-'], { env, input: 'Bearer of-standard-input' }),
      await call(grade, { env: { ...env, WEBHOOK_HEADER: 'Bearer of-a-variable\n' } }),
      await call([...grade, '--env-file', envFile], {}),
    ];
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(sent).toEqual([
      ['Bearer of-a-file'],
      ['Bearer of-standard-input'],
      ['Bearer of-a-variable'],
      ['Bearer of-an-env-file'],
    ]);
  });

  test('is not read from an argument', async () => {
    const args = ['grade', '4005', '--header', 'Authorization: Bearer canary'];
    const { exitCode, stdout, stderr } = await call(args, { env: { WEBHOOK_SECRET: secret, WEBHOOK_HEADER: 'a' } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toBe(
      'deedwire-webhook-receiver: --header takes only a name: other processes can read arguments. Set WEBHOOK_HEADER to the value, or pass --header-file.\n',
    );
  });

  test.each([
    'Host',
    'Cookie',
    'Content-Type',
    'User-Agent',
    'Transfer-Encoding',
    'webhook-id',
    'X-Forwarded-For',
    'X-Forwarded_For',
    'x-service-webhook-event',
    'X-Service_API-Key',
    'X-Service',
    'X-',
    'X-ä',
    `X-${'a'.repeat(99)}`,
  ])('cannot be called %s', async (name) => {
    const args = ['grade', '4005', '--header', name];
    const { exitCode, stdout, stderr } = await call(args, { env: { WEBHOOK_SECRET: secret, WEBHOOK_HEADER: 'a' } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^deedwire-webhook-receiver: --header must be Authorization, or X-/);
  });

  test.each([
    ['none', undefined, 'there is no value for --header. Set WEBHOOK_HEADER, or pass --env-file or --header-file.'],
    ['a space', ' ', 'there is no value for --header. '],
    ['two lines', 'canary\nHost: a', 'the value of the header must have 1 to 4,096 printable ASCII characters.'],
    ['a letter outside ASCII', 'canaryä', 'the value of the header must have 1 to 4,096 '],
    ['4,200 characters', 'canary'.repeat(700), 'the value of the header must have 1 to 4,096 '],
    ['a name', 'authorization: canary', 'the value of the header begins with its name. '],
  ])('cannot have a value with %s', async (_, value, message) => {
    const args = ['grade', '4005', '--header', 'Authorization'];
    const { exitCode, stdout, stderr } = await call(args, { env: { WEBHOOK_SECRET: secret, WEBHOOK_HEADER: value } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('canary');
  });

  test.each([
    [['--header-file', 'a'], '--header-file has only the value. Pass the name with --header.'],
    [['--header', 'X-A', '--header-file', '-', '--secret-file', '-'], 'only one of the files can be standard input.'],
  ])('is not read with %j', async (options, message) => {
    const { exitCode, stderr } = await call(['grade', '4005', ...options], { env: { WEBHOOK_SECRET: secret } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `deedwire-webhook-receiver: ${message}\n` });
  });
});

const lowerEscape = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;

const html = { 'content-type': 'text/html' };

test.each<[string, Response, string, string, string]>([
  [
    'the CSRF check of Laravel',
    { status: 419, headers: html, body: '<title>Page\n Expired' },
    'handshake',
    'A CSRF check refused',
    '419 for a handshake: "<title>Page Expired"',
  ],
  [
    'the CSRF check of Django',
    { status: 403, headers: html, body: '<p>CSRF verification failed.' },
    'valid',
    'A CSRF check refused',
    '403 for an event: "<p>CSRF verification failed."',
  ],
  [
    'the CSRF check of Rails',
    { status: 422, headers: html, body: '<h1>ActionController::InvalidAuthenticityToken' },
    'valid',
    'A CSRF check refused',
    '422 for an event: "<h1>ActionController::InvalidAuthenticityToken"',
  ],
  [
    'a page to sign in',
    { status: 200, headers: html, body: '<title>Sign in\u001B[2J' },
    'valid',
    'A login protects',
    String.raw`200 for an event: "<title>Sign in\u001b[2J"`,
  ],
  [
    'a redirect to sign in',
    { status: 307, headers: { location: '/sign-in?redirect_url=a' } },
    'redirect',
    'A login protects',
    '307 for an event, and Deedwire follows no redirect: "/sign-in?redirect_url=a"',
  ],
  [
    'any other redirect',
    { status: 308, headers: { location: '/webhooks/' } },
    'redirect',
    'Subscribe with the URL to which it redirects, http://127.0.0.1:',
    '308 for an event, and Deedwire follows no redirect: "/webhooks/"',
  ],
  ['a page with the secret', { status: 500, body: secret }, 'valid', 'See the log', '500 for an event: "[the secret]"'],
])('%s is recognized, and proves nothing else', async (_, response, name, fix, detail) => {
  const grades = await gradesOf(await start({ before: () => response }));
  expect(fixOf(grades, name)).toContain(fix);
  expect(grades.find((each) => each.name === name)?.detail).toBe(detail);
  const after = grades.slice(grades.findIndex((each) => each.name === 'valid') + 1);
  expect(new Set(after.map(({ result }) => result))).toEqual(new Set(['skipped']));
});

test('a check that is chosen alone fails if the receiver refuses every event, and says why', async () => {
  const { url } = await start({ secrets: [nextSecret] });
  const grades: Grade[] = [];
  const only = checks.filter(({ name }) => name === 'tampered');
  for await (const each of gradeReceiver({ url, secret }, only)) grades.push(each);
  expect(grades).toEqual([
    { name: 'valid', result: 'fail', detail: '401 for an event', fix: expect.stringContaining('different secrets') },
    { name: 'tampered', result: 'skipped', detail: 'the receiver refuses every event' },
  ]);
});

/** Ends the connection of each request with these bytes. */
async function startRaw(bytes: string): Promise<Running> {
  const server = await forTest(
    listen(
      createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(bytes));
      }),
    ),
  );
  return { url: new URL(`http://127.0.0.1:${server.port}/webhooks`), effects: 0 };
}

test.each([
  ['HTTP/1.1 200 OK\r\nX-A: \u0001\r\n\r\n', /^the response is not valid HTTP\/1\.1: Invalid header /, 'Correct the '],
  ['SSH-2.0-x\r\n', /^the response is not valid HTTP\/1\.1: Expected HTTP\//, 'Correct the response. '],
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', /^the response ended early$/, 'See in the log of the receiver '],
  ['', /^socket hang up$/, 'See in the log of the receiver '],
  ['HTTP/1.1 101 A\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n', /^101 Switching/, 'See in the log of the receiver '],
])('says what is wrong with the response %j', async (bytes, detail, fix) => {
  const [first] = await gradesOf(await startRaw(bytes));
  expect(first).toEqual({
    name: 'redirect',
    result: 'fail',
    detail: expect.stringMatching(detail),
    fix: expect.stringContaining(fix),
  });
});

test('blames no HMAC if a forged request gets no response', async () => {
  const running = await start({
    isAuthentic: (request) => verified(request) || (request.socket.destroy(), false),
  });
  const fix = 'See in the log of the receiver why its response is not complete. Respond with 401 within 5 seconds.';
  expect(fixOf(await gradesOf(running), 'other-secret')).toBe(fix);
});

test('takes no reset for a signature that verifies', async () => {
  let requests = 0;
  const running = await start({
    before({ socket, body }) {
      requests += 1;
      if (body.length <= 2 && requests % 2 === 0) socket.destroy();
      return { status: 401 };
    },
  });
  const only = checks.filter(({ name }) => name === 'valid');
  for (const odd of [0, 1]) {
    requests = odd;
    const grades: Grade[] = [];
    for await (const each of gradeReceiver({ url: running.url, secret }, only)) grades.push(each);
    expect(fixOf(grades, 'valid')).toMatch(/^The receiver and this command have different secrets; or /);
  }
});

test.each([
  [401, /^The receiver and this command have different secrets; or /],
  [404, /^Check the path of the URL: /],
])('a handshake that is refused like every event with %i has the same cause', async (status, fix) => {
  const grades = await gradesOf(await start({ before: () => ({ status }) }));
  expect(fixOf(grades, 'handshake')).toMatch(fix);
  expect(fixOf(grades, 'valid')).toBe(fixOf(grades, 'handshake'));
});

test('warns of what costs something', async () => {
  const running = await start({
    before: ({ method }) => (method === 'GET' ? { status: 200 } : null),
    event: (body) => (typeOf(body)['type'] === 'webhook.test' ? null : { status: 501 }),
  });
  expect(resultsOf(await gradesOf(running, { count: undefined, nextSecret: undefined }), 'pass')).toEqual({
    get: 'warning',
    repeated: 'unproven',
    'rotated-new': 'skipped',
    'unknown-event': 'warning',
  });
});

describe('the command', () => {
  const env = { WEBHOOK_SECRET: `${secret}\n${nextSecret}`, PATH: process.env['PATH'] };

  test('proves one effect with a count command, and exits with 0', async () => {
    const folder = await tempFolder();
    const file = join(folder, 'count');
    await writeFile(file, 'effects: 0\n');
    const ids = new Set<string>();
    const { url } = await start({
      async remember(id) {
        const isNew = !ids.has(id);
        ids.add(id);
        await writeFile(file, `effects: ${ids.size}\n`);
        return isNew;
      },
    });
    const { exitCode, stdout, stderr } = await call(['grade', url.host.replace(/^.*:/, ''), '--', 'cat', file], {
      env,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^✓ repeated +\d.*one effect for each event$/m);
    expect(stdout.split('\n').at(-2)).toBe(`${checks.length} passed`);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('does not pass secrets to the count command', async () => {
    const { url } = await start();
    const script = 'const { WEBHOOK_SECRET, WEBHOOK_HEADER, API_KEY, DATABASE_URL } = process.env;';
    const count = `${script} console.error(JSON.stringify([WEBHOOK_SECRET, WEBHOOK_HEADER, API_KEY, DATABASE_URL]))`;
    const secrets = { WEBHOOK_HEADER: 'q7', API_KEY: 'q7', DATABASE_URL: 'q8' };
    const args = ['grade', url.href, '--', process.execPath, '--eval', `${count}; process.exit(1);`];
    const { exitCode, stderr } = await call(args, { env: { ...env, ...secrets } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('[null,null,null,"q8"]');
  });

  test('reports every check if the count command fails later', async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, 'count'), '0');
    const { url } = await start({
      async remember() {
        await rm(join(folder, 'count'), { force: true });
        return true;
      },
    });
    const args = ['grade', url.href, '--only', 'valid,repeated,get', '--format', 'json'];
    const { exitCode, stdout } = await call([...args, '--', 'cat', join(folder, 'count')], { env });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      checks: [
        { name: 'valid', result: 'pass' },
        { name: 'repeated', result: 'fail', detail: expect.stringContaining('the count command failed: ') },
        { name: 'get', result: 'pass' },
      ],
    });
  });

  test('exits with 1 if a check fails, and prints the fix', async () => {
    const { url } = await start({ handshake: () => ({ status: 404 }) });
    const args = ['grade', url.href, '--only', 'handshake,valid'];
    const { exitCode, stdout, stderr } = await call(args, { env, hasColors: true });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'deedwire-webhook-receiver: the receiver failed 1 check.\n',
    });
    expect(stdout).toContain(
      '\u001B[31m✗\u001B[39m handshake        404 for a handshake\n  Fix: Respond with 2xx and the JSON ',
    );
    expect(stdout).toContain('\n\u001B[32m✓\u001B[39m valid ');
  });

  test('exits with 2 if every check was skipped', async () => {
    const { url } = await start();
    const args = ['grade', url.href, '--only', 'rotated-new'];
    const { exitCode, stdout, stderr } = await call(args, { env: { WEBHOOK_SECRET: secret } });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'deedwire-webhook-receiver: every check was skipped.\n',
    });
    expect(stdout).toContain('pass a second secret, which the receiver has too');
  });

  test('prints JSON and JUnit', async () => {
    const { url } = await start({ secrets: [secret] });
    const args = ['grade', url.href, '--only', 'valid,rotated-new,repeated', '--format'];
    const json = await call([...args, 'json'], { env });
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      url: url.href,
      checks: [
        { name: 'valid', result: 'pass' },
        { name: 'repeated', result: 'unproven' },
        { name: 'rotated-new', result: 'fail', fix: expect.any(String) },
      ],
    });
    const { stdout } = await call([...args, 'junit'], { env });
    expect(stdout).toContain('tests="3" failures="1" skipped="0"');
    expect(stdout).toMatch(/<testcase classname="receiver" name="rotated-new"><failure message="401 for /);
    expect(stdout).toContain('&lt;command that prints');
  });

  test('says in one line that nothing listens, and prints no secret', async () => {
    const { exitCode, stdout, stderr } = await call(['grade', '1/webhooks', '--only', 'redirect,valid'], { env });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^✗ redirect +connect ECONNREFUSED [^]*^- valid +the URL does not respond as a receiver$/m);
    expect(stdout + stderr).not.toContain(secret.slice(6, 20));
  });

  test.each([
    [[], 'grade needs the URL of one receiver.'],
    [['4005', '--only', 'all'], 'there is no check "all". There are: redirect, handshake,'],
    [
      ['4005', '--only', 'valid', '--skip', 'valid'],
      'no check remains. Change --only or --skip, or leave out --standard.',
    ],
    [['4005', '--only', 'handshake', '--standard'], 'no check remains. '],
    [['4005', '--format', 'xml'], '--format must be text, json or junit.'],
    [
      ['4005', '--type', 'order.placd', '--events', orderEvents],
      'There is no event type order.placd. Did you mean order.placed?',
    ],
    [['https://192.0.2.1/hooks'], '192.0.2.1 is not this machine. Pass --allow-remote to send requests to it.'],
    [['http://a:b@localhost/'], 'the URL of the receiver must have no login and no password.'],
    [['localhost:4005'], 'the receiver must be a port, port/path, or a URL'],
    [['4005', '--'], 'after --, pass a command that prints a number.'],
    [['4005', '--', 'echo', 'none'], 'the count command prints no number.'],
    [['4005', '--', '/none'], 'the count command failed: spawn /none ENOENT'],
  ])('exits with 2 for %j', async (args, message) => {
    const { exitCode, stdout, stderr } = await call(['grade', ...args], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^deedwire-webhook-receiver: [^\n]+\n$/);
    expect(stderr).toContain(message);
  });
});
