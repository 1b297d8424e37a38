import { createHmac } from 'node:crypto';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContractOrder } from './body-variants.ts';
import type { CapturedRequest } from './captured-request.ts';
import type { FindingCode } from './findings.ts';
import { type Diagnosis, diagnoseWebhook } from './index.ts';
import { diagnoseWebhook as diagnoseInPage } from './web.ts';

const secret = generateWebhookSecret();
const prefix = 'X-Service';
const receivedAt = new Date('2026-11-03T09:30:01.500Z');
const timestamp = Math.floor(receivedAt.getTime() / 1_000);
const id = 'gid://service/WebhookDelivery/4711';

const event = {
  id: 'gid://service/WebhookEvent/123456',
  type: 'order.placed',
  version: '2026-11-01',
  timestamp: '2026-11-03T09:30:00.123Z',
  data: { orderId: 'gid://service/Order/4711', externalReference: "Café “Zürich” / “$(x)” `y`\n'z'" },
};
const body = JSON.stringify(event);

const order: ContractOrder = (type, _, value) =>
  type === event.type ? JSON.stringify(value, [...Object.keys(event), ...Object.keys(event.data)]) : null;

type Headers = Record<string, string>;

interface Sent {
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

const signed = (text = body, more: { secret?: string; nextSecret?: string } = {}): Sent => ({
  headers: { ...signWebhook({ id, timestamp, body: text, secret, prefix, ...more }) },
  body: Uint8Array.from(Buffer.from(text)),
});

const captured = ({ headers, body: bytes }: Sent): CapturedRequest => ({
  headers: Object.entries(headers),
  body: bytes,
  findings: [],
});

interface Options {
  secrets?: readonly string[];
  at?: Date;
  sentBody?: Uint8Array<ArrayBuffer>;
}

const diagnose = (sent: Sent, { secrets = [secret], at = receivedAt, sentBody }: Options = {}): Promise<Diagnosis> =>
  diagnoseWebhook({ request: captured(sent), secrets, receivedAt: at, sentBody: sentBody ?? null, order, prefix });

const codesOf = ({ findings }: Diagnosis): FindingCode[] => findings.map(({ code }) => code);

const withHeader = (name: string, change: (value: string) => string, sent = signed()): Sent => ({
  ...sent,
  headers: { ...sent.headers, [name]: change(sent.headers[name] ?? '') },
});

const withHeaders = (change: (value: string, name: string) => string, sent = signed()): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name, change(value, name)])),
});

const withBody = (change: (body: Buffer) => Uint8Array, sent = signed()): Sent => ({
  ...sent,
  body: Uint8Array.from(change(Buffer.from(sent.body))),
});

const only = (names: readonly string[], sent = signed()): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).filter(([name]) => names.includes(name))),
});

const standardNames = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const serviceNames = ['x-service-webhook-timestamp', 'x-service-webhook-signature'];

const hmac = (key: Buffer | string, content: string): Buffer => createHmac('sha256', key).update(content).digest();
const decodedKey = Buffer.from(secret.slice('whsec_'.length), 'base64');

/** A request whose signature somebody else has made. */
const standardBy = (key: Buffer | string, content = `${id}.${timestamp}.${body}`): Sent =>
  withHeader('webhook-signature', () => `v1,${hmac(key, content).toString('base64')}`, only(standardNames));
const serviceBy = (key: Buffer | string, content = `${timestamp}.${body}`): Sent =>
  withHeader('x-service-webhook-signature', () => hmac(key, content).toString('hex'), only(serviceNames));

test('accepts what the verifier accepts, with each scheme', async () => {
  for (const sent of [signed(), only(standardNames), only(serviceNames)]) {
    expect(await diagnose(sent)).toEqual({ isAccepted: true, rejection: null, matchingSecrets: [1], findings: [] });
  }
});

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, inner]) => [key, sorted(inner)]),
      )
    : value;

const escaped = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const bodyMutations: [name: string, codes: FindingCode[], change: (body: Buffer) => Uint8Array][] = [
  ['a byte order mark', ['BODY_BOM'], (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])],
  ['a line feed at the end', ['BODY_TRAILING_NEWLINE'], (bytes) => Buffer.concat([bytes, Buffer.from('\n')])],
  ['CR LF at the end', ['BODY_TRAILING_NEWLINE'], (bytes) => Buffer.concat([bytes, Buffer.from('\r\n')])],
  ['UTF-16', ['BODY_UTF16'], (bytes) => Buffer.from(`\uFEFF${bytes.toString()}`, 'utf16le')],
  ['UTF-16 without a mark', ['BODY_UTF16'], (bytes) => Buffer.from(bytes.toString(), 'utf16le')],
  ['UTF-8 twice', ['BODY_ENCODED_TWICE'], (bytes) => Buffer.from(bytes.toString('latin1'))],
  [
    'indentation',
    ['BODY_WHITESPACE_CHANGED'],
    (bytes) => Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), null, 2)),
  ],
  ['escapes', ['BODY_ESCAPES_CHANGED'], (bytes) => Buffer.from(escaped(bytes.toString()))],
  ['escaped slashes', ['BODY_ESCAPES_CHANGED'], (bytes) => Buffer.from(bytes.toString().replaceAll('/', '\\/'))],
  [
    'sorted keys',
    ['BODY_KEYS_REORDERED'],
    (bytes) => Buffer.from(JSON.stringify(sorted(JSON.parse(bytes.toString())))),
  ],
  ['a JSON string', ['BODY_JSON_STRING'], (bytes) => Buffer.from(JSON.stringify(bytes.toString()))],
  ['base64', ['BODY_BASE64'], (bytes) => Buffer.from(bytes.toString('base64'))],
  [
    'chunks',
    ['BODY_CHUNKED'],
    (bytes) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')]),
  ],
  [
    'indentation and escapes',
    ['BODY_WHITESPACE_CHANGED', 'BODY_ESCAPES_CHANGED'],
    (bytes) => Buffer.from(escaped(JSON.stringify(JSON.parse(bytes.toString()), null, '\t'))),
  ],
  [
    'a mark and a line feed',
    ['BODY_TRAILING_NEWLINE', 'BODY_BOM'],
    (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes, Buffer.from('\n')]),
  ],
];

const crlf = (bytes: Buffer): Buffer => Buffer.from(bytes.toString().replaceAll('\n', '\r\n'));

const lf = (bytes: Buffer): Buffer => Buffer.from(bytes.toString().replaceAll('\r\n', '\n'));

const lossy = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('ascii').replaceAll('C', '\uFFFD'));

const findingsOf = async (change: (bytes: Buffer) => Uint8Array) => (await diagnose(withBody(change))).findings;

test('without a prefix, reads and names the headers of Standard Webhooks only', async () => {
  const { headers, body: bytes } = signed();
  const ofService = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-')));
  const input = { secrets: [secret], receivedAt };
  const missing = await diagnoseWebhook({ ...input, request: captured({ headers: ofService, body: bytes }) });
  expect(codesOf(missing)).toEqual(['SIGNATURE_MISSING']);
  expect(JSON.stringify(missing)).not.toMatch(/x-service|\{prefix\}|undefined/i);
  const forged = { ...headers, 'x-service-webhook-signature': '0'.repeat(64) };
  expect(await diagnoseWebhook({ ...input, request: captured({ headers: forged, body: bytes }) })).toMatchObject({
    isAccepted: true,
  });
  const other = await diagnoseWebhook({ ...input, secrets: [generateWebhookSecret()], request: captured(signed()) });
  expect(codesOf(other)).toEqual(['SIGNATURE_MISMATCH']);
  expect(JSON.stringify(other)).not.toMatch(/x-service|undefined/i);
});

describe('a changed body', () => {
  test.each(bodyMutations)('%s: %j, including in a page', async (_, codes, change) => {
    const sent = withBody(change);
    const diagnosis = await diagnose(sent);
    expect(diagnosis).toMatchObject({ isAccepted: false, rejection: 'SIGNATURE_MISMATCH', matchingSecrets: [1] });
    expect(codesOf(diagnosis)).toEqual(codes);
    expect(diagnosis.findings.every(({ isProven }) => isProven)).toBe(true);
    const sentBody = signed().body;
    const inPage = await diagnoseInPage({ request: captured(sent), secrets: [secret], receivedAt, sentBody, prefix });
    expect(inPage).toEqual(await diagnose(sent, { sentBody }));
  });

  test('Latin-1, of a body that fits into it', async () => {
    const sent = signed('{"name":"Zürich"}');
    expect(codesOf(await diagnose(withBody((bytes) => Buffer.from(bytes.toString(), 'latin1'), sent)))).toEqual([
      'BODY_LATIN1',
    ]);
  });

  test('line breaks within, at the end, and numbers', async () => {
    const lines = signed('{\n"a": 1\n}');
    expect(codesOf(await diagnose(withBody(crlf, lines)))).toEqual(['BODY_CRLF']);
    const windows = signed('{\r\n"a": 1\r\n}');
    expect(codesOf(await diagnose(withBody(lf, windows)))).toEqual(['BODY_LF']);
    const ended = signed('{"a":1}\n');
    expect(codesOf(await diagnose(withBody((bytes) => bytes.subarray(0, -1), ended)))).toEqual(['BODY_TRIMMED']);
    const number = signed('{"a":1}');
    expect(codesOf(await diagnose(withBody(() => Buffer.from('{"a":1.0}'), number)))).toEqual(['BODY_NUMBERS_CHANGED']);
  });

  test('is suspected if nothing matches', async () => {
    const mismatch = expect.objectContaining({ code: 'SIGNATURE_MISMATCH', isProven: true });
    const suspected = (code: FindingCode) => [expect.objectContaining({ code, isProven: false }), mismatch];
    expect(await findingsOf(() => Buffer.alloc(0))).toEqual(suspected('BODY_EMPTY'));
    expect(await findingsOf(() => Buffer.from([0x1f, 0x8b, 8, 0]))).toEqual(suspected('BODY_COMPRESSED'));
    expect(await findingsOf(lossy)).toEqual(suspected('BODY_LOST_CHARACTERS'));
    expect(await findingsOf(() => Buffer.from('{}'))).toEqual([mismatch]);
  });

  test('is shorter than announced', async () => {
    const cut = withBody((bytes) => bytes.subarray(0, 100));
    const sent = { ...cut, headers: { ...cut.headers, 'Content-Length': String(signed().body.length) } };
    const { findings } = await diagnose(sent);
    expect(findings[0]).toMatchObject({
      code: 'BODY_LENGTH',
      problem: `The body has 100 bytes, but \`content-length\` says ${signed().body.length}.`,
    });
  });

  test('is compared with the body that Deedwire sends', async () => {
    const sentBody = signed().body;
    const other = withBody((bytes) => Buffer.from(bytes.toString().replace('4711', '4712')));
    const { findings, matchingSecrets } = await diagnose(other, { sentBody });
    expect(matchingSecrets).toEqual([1]);
    expect(findings).toEqual([
      expect.objectContaining({
        code: 'BODY_DIFFERENT',
        problem: expect.stringContaining(`the first difference is at byte ${body.indexOf('4711') + 3}.`),
      }),
    ]);
    // Keys of an event that this build does not know.
    const unknown = signed('{"type":"other","version":"1","b":{"d":1,"c":2},"a":3}');
    const reordered = withBody(() => Buffer.from('{"a":3,"b":{"c":2,"d":1},"type":"other","version":"1"}'), unknown);
    expect(codesOf(await diagnose(reordered))).toEqual(['SIGNATURE_MISMATCH']);
    expect(codesOf(await diagnose(reordered, { sentBody: unknown.body }))).toEqual(['BODY_KEYS_REORDERED']);
    // The same body and another secret: the secret is wrong.
    const wrong = await diagnose(signed(), { sentBody, secrets: [generateWebhookSecret()] });
    expect(wrong.findings).toMatchObject([
      {
        problem:
          'The signature was made with another secret: the body is the one that Deedwire sends for this delivery.',
        remedy: expect.not.stringContaining('the body'),
      },
    ]);
  });
});

const rest = secret.slice('whsec_'.length);
const secretMutations: [codes: FindingCode[], given: string][] = [
  [['SECRET_PREFIX_MISSING'], rest],
  [['SECRET_PREFIX_DOUBLED'], `whsec_${secret}`],
  [['SECRET_WHITESPACE'], `${secret}\n`],
  [['SECRET_WHITESPACE'], ` ${secret}`],
  [['SECRET_WHITESPACE'], `${secret.slice(0, 20)}\n${secret.slice(20)}`],
  [['SECRET_QUOTED'], `"${secret}"`],
  [['SECRET_NAME_INCLUDED'], `WEBHOOK_SECRET=${secret}`],
  [['SECRET_WITH_VERSION'], `v1,${secret}`],
  [['SECRET_WITH_VERSION'], `v1 ${secret}`],
  [['SECRET_WITH_VERSION'], `v1=${secret}`],
  [['SECRET_WITH_SCHEME'], `Bearer ${secret}`],
  [['SECRETS_JOINED'], `${secret} ${generateWebhookSecret()}`],
  [['SECRETS_JOINED'], `${generateWebhookSecret()},${secret}`],
  [['SECRETS_JOINED'], JSON.stringify([generateWebhookSecret(), secret, generateWebhookSecret()])],
  [['SECRET_NAME_INCLUDED', 'SECRETS_JOINED'], `SECRETS=${generateWebhookSecret()};${secret}`],
  [['SECRET_URL_ENCODED'], encodeURIComponent(secret)],
  [['SECRET_BASE64URL'], `whsec_${Buffer.from(rest, 'base64').toString('base64url')}`],
  [['SECRET_HEX'], `whsec_${Buffer.from(rest, 'base64').toString('hex')}`],
  [['SECRET_PREFIX_MISSING', 'SECRET_HEX'], Buffer.from(rest, 'base64').toString('hex')],
  [['SECRET_ENCODED_TWICE'], Buffer.from(secret).toString('base64')],
  [['SECRET_NAME_INCLUDED', 'SECRET_QUOTED'], `export WEBHOOK_SECRET='${secret}'`],
];

describe('a wrong secret', () => {
  test.each(secretMutations)('%j', async (codes, given) => {
    const diagnosis = await diagnose(signed(), { secrets: [given] });
    // 64 hexadecimal digits are also the base64 of 48 bytes.
    const rejection =
      given.startsWith('whsec_') && codes.join() === 'SECRET_HEX' ? 'SIGNATURE_MISMATCH' : 'SECRET_INVALID';
    expect(diagnosis).toMatchObject({ isAccepted: false, rejection, matchingSecrets: [1] });
    expect(codesOf(diagnosis)).toEqual(codes);
    expect(JSON.stringify(diagnosis)).not.toContain(rest.slice(0, 12));
  });

  test('spaces instead of +', async () => {
    const plus = `whsec_${'+/+/'.repeat(8)}`;
    const diagnosis = await diagnose(signed(body, { secret: plus }), { secrets: [plus.replaceAll('+', ' ')] });
    expect(codesOf(diagnosis)).toEqual(['SECRET_URL_DECODED']);
  });

  test('none, another format, another secret', async () => {
    expect(codesOf(await diagnose(signed(), { secrets: [''] }))).toEqual(['SECRET_EMPTY', 'SIGNATURE_MISMATCH']);
    expect(codesOf(await diagnose(signed(), { secrets: ['hunter2'] }))).toEqual([
      'SECRET_INVALID',
      'SIGNATURE_MISMATCH',
    ]);
    expect(codesOf(await diagnose(signed(), { secrets: [generateWebhookSecret()] }))).toEqual(['SIGNATURE_MISMATCH']);
  });

  test('one of two matches', async () => {
    const other = generateWebhookSecret();
    const diagnosis = await diagnose(signed(), { secrets: [other, secret] });
    expect(diagnosis).toMatchObject({ isAccepted: true, matchingSecrets: [2] });
    expect(diagnosis.findings).toMatchObject([{ code: 'OTHER_SECRET', problem: 'Only secret 2 of 2 matches.' }]);
    const rotating = signed(body, { nextSecret: other });
    expect(await diagnose(rotating, { secrets: [other, secret] })).toMatchObject({
      matchingSecrets: [1, 2],
      findings: [],
    });
    const changed = withBody((bytes) => Buffer.concat([bytes, Buffer.from('\n')]));
    expect(codesOf(await diagnose(changed, { secrets: [other, secret] }))).toEqual([
      'BODY_TRAILING_NEWLINE',
      'OTHER_SECRET',
    ]);
  });
});

describe('a signature by somebody else', () => {
  test.each<[FindingCode[], Sent]>([
    [['KEY_TEXT'], standardBy(secret)],
    [['KEY_TEXT_WITHOUT_PREFIX'], standardBy(rest)],
    [['KEY_DECODED_WITH_PREFIX'], standardBy(Buffer.from(secret, 'base64'))],
    [['CONTENT_WITHOUT_ID'], standardBy(decodedKey, `${timestamp}.${body}`)],
    [['CONTENT_ONLY_BODY'], standardBy(decodedKey, body)],
    [['KEY_DECODED'], serviceBy(decodedKey)],
    [['KEY_TEXT_WITHOUT_PREFIX'], serviceBy(rest)],
    [['CONTENT_ONLY_BODY'], serviceBy(secret, body)],
    [['KEY_TEXT', 'CONTENT_WITHOUT_ID'], standardBy(secret, `${timestamp}.${body}`)],
  ])('%j', async (codes, sent) => {
    expect(codesOf(await diagnose(sent))).toEqual(codes);
  });

  test('with the id in the content of X-Service', async () => {
    const sent = serviceBy(secret, `${id}.${timestamp}.${body}`);
    const { findings } = await diagnose({ ...sent, headers: { ...sent.headers, 'webhook-id': id } });
    expect(findings.map(({ code }) => code)).toEqual(['HEADER_MISSING', 'HEADER_MISSING', 'CONTENT_WITH_ID']);
  });
});

const recoded = (from: BufferEncoding, to: BufferEncoding) => (value: string) =>
  Buffer.from(value.replace('v1,', ''), from).toString(to);

describe('changed headers', () => {
  test.each<[FindingCode[], Sent]>([
    [['SIGNATURE_HEX'], withHeader('webhook-signature', (value) => `v1,${recoded('base64', 'hex')(value)}`)],
    [
      ['SIGNATURE_BASE64URL'],
      withHeader('webhook-signature', (value) => `v1,${recoded('base64', 'base64url')(value)}`),
    ],
    [['SIGNATURE_PREFIX'], withHeader('webhook-signature', (value) => value.replace('v1,', ''))],
    [['SIGNATURE_PREFIX'], withHeader('webhook-signature', (value) => value.replace('v1,', 'v1='))],
    [['SIGNATURE_PREFIX'], withHeader('x-service-webhook-signature', (value) => `sha256=${value}`)],
    [['SIGNATURE_UPPER_CASE'], withHeader('x-service-webhook-signature', (value) => value.toUpperCase())],
    [['SIGNATURE_BASE64'], withHeader('x-service-webhook-signature', recoded('hex', 'base64'))],
    [['SIGNATURE_OTHER_VERSION'], withHeader('webhook-signature', (value) => value.replace('v1,', 'v1a,'))],
    [['HEADER_JOINED'], withHeader('webhook-signature', (value) => `${value}, ${value}`)],
    [['HEADER_WHITESPACE'], withHeader('webhook-id', (value) => ` ${value}`)],
    [['HEADER_WHITESPACE'], withHeader('webhook-id', (value) => value.replace('//', '// '))],
    [['HEADER_WHITESPACE'], withHeader('x-service-webhook-timestamp', (value) => `${value} `)],
    [['HEADER_QUOTED'], withHeader('webhook-timestamp', (value) => `"${value}"`)],
    [['ID_ENCODED'], withHeader('webhook-id', encodeURIComponent)],
    [['ID_CHANGED'], withHeader('webhook-id', () => '4711')],
    [['SIGNATURE_MISMATCH'], withHeader('x-service-webhook-signature', (value) => value.replaceAll(/\d/g, '0'))],
    [['TIMESTAMP_CONFLICT', 'TIMESTAMP_CHANGED'], withHeader('webhook-timestamp', () => String(timestamp + 1))],
    [['HEADER_MISSING'], only([...serviceNames, 'webhook-id', 'webhook-signature'])],
    [['SIGNATURE_MISSING'], only([])],
    [
      ['TIMESTAMP_IN_MILLISECONDS'],
      withHeader('x-service-webhook-timestamp', (value) => `${value}123`, only(serviceNames)),
    ],
    [['TIMESTAMP_MALFORMED'], withHeader('webhook-timestamp', () => receivedAt.toISOString(), only(standardNames))],
  ])('%j', async (codes, sent) => {
    const diagnosis = await diagnose(sent);
    expect(diagnosis.isAccepted).toBe(false);
    expect(codesOf(diagnosis)).toEqual(codes);
    const { 'webhook-signature': standard = '', 'x-service-webhook-signature': service = '' } = signed().headers;
    expect(JSON.stringify(diagnosis)).not.toContain(standard.slice(3, 20));
    expect(JSON.stringify(diagnosis)).not.toContain(service.slice(0, 20));
  });

  test('in milliseconds, signed as seconds or as milliseconds', async () => {
    const both = withHeaders((value, name) => (name.endsWith('timestamp') ? `${value}000` : value));
    const { findings } = await diagnose(both);
    expect(findings.map(({ code }) => code)).toEqual(['TIMESTAMP_IN_MILLISECONDS', 'TIMESTAMP_IN_MILLISECONDS']);
    const ms = `${timestamp}789`;
    const sent = standardBy(decodedKey, `${id}.${ms}.${body}`);
    expect(codesOf(await diagnose(withHeader('webhook-timestamp', () => ms, sent)))).toEqual([
      'TIMESTAMP_IN_MILLISECONDS',
    ]);
  });

  test('repeated and renamed', async () => {
    const request = captured(signed());
    const twice = { ...request, headers: [...request.headers, ...request.headers.slice(0, 1)] };
    const repeated = await diagnoseWebhook({ request: twice, secrets: [secret], receivedAt, prefix });
    expect(repeated.findings).toMatchObject([
      { code: 'HEADER_REPEATED', problem: '`x-service-webhook-signature` occurs 2 times.' },
    ]);
    const wsgi = request.headers.map(
      ([name, value]) => [`HTTP_${name.toUpperCase().replaceAll('-', '_')}`, value] as const,
    );
    const renamed = await diagnoseWebhook({
      request: { ...request, headers: wsgi },
      secrets: [secret],
      receivedAt,
      prefix,
    });
    expect(new Set(renamed.findings.map(({ code }) => code))).toEqual(new Set(['HEADER_RENAMED']));
  });

  test('in a format that only the verifier rejects', async () => {
    // The last bits of the base64 are not zero, so there are several texts for the same signature.
    const loose = withHeader('webhook-signature', (value) =>
      value.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`),
    );
    const { findings, rejection } = await diagnose(loose);
    expect({ rejection, codes: findings.map(({ code }) => code) }).toEqual({
      rejection: 'HEADER_MALFORMED',
      codes: ['HEADER_MALFORMED'],
    });
  });
});

describe('the clock', () => {
  test('says how far it is off, and that the signature is right', async () => {
    const late = await diagnose(signed(), { at: new Date(receivedAt.getTime() + 3_600_000) });
    expect(late).toMatchObject({ isAccepted: false, rejection: 'TIMESTAMP_TOO_OLD', matchingSecrets: [1] });
    expect(late.findings).toMatchObject([
      { code: 'TIMESTAMP_TOO_OLD', problem: 'The request was signed 3,600 seconds ago. The tolerance is 300.' },
    ]);
    const early = await diagnose(signed(), { at: new Date(receivedAt.getTime() - 302_000) });
    expect(early.findings).toMatchObject([
      { code: 'TIMESTAMP_TOO_NEW', problem: 'The request was signed 302 seconds in the future. The tolerance is 300.' },
    ]);
    const tolerant = { request: captured(signed()), secrets: [secret], toleranceSeconds: 3_600 };
    expect(
      await diagnoseWebhook({ ...tolerant, receivedAt: new Date(receivedAt.getTime() + 3_599_000) }),
    ).toMatchObject({
      isAccepted: true,
    });
  });

  test('does not hide another cause', async () => {
    const at = new Date(receivedAt.getTime() + 3_600_000);
    const changed = withBody((bytes) => Buffer.concat([bytes, Buffer.from('\n')]));
    expect(codesOf(await diagnose(changed, { at, secrets: [rest] }))).toEqual([
      'SECRET_PREFIX_MISSING',
      'BODY_TRAILING_NEWLINE',
      'TIMESTAMP_TOO_OLD',
    ]);
  });
});

/** Of any code points. The unit `binary` of fast-check takes a second of CPU time to build. */
const anyText = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});

describe('for any request', () => {
  const json = fc
    .record({ a: fc.string({ unit: 'grapheme' }), é: fc.jsonValue(), b: anyText })
    .map((value) => JSON.stringify(value));

  test('each change of the body is found, with any secret', async () => {
    const changes = bodyMutations.filter(([, codes]) => codes.join() !== 'BODY_KEYS_REORDERED');
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom(...changes), async (text, [, codes, change]) => {
        const own = generateWebhookSecret();
        const sent = signed(text, { secret: own });
        const changed = withBody(change, sent);
        fc.pre(Buffer.compare(changed.body, sent.body) !== 0);
        const found = codesOf(await diagnose(changed, { secrets: [own] }));
        // A part of a combined change may change nothing in this body.
        expect(found.length).toBeGreaterThan(0);
        expect(codes).toEqual(expect.arrayContaining(found));
      }),
      { numRuns: Number(process.env['RUNS'] ?? 50) },
    );
  });

  test('each change of the secret is found, with any body', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.constantFrom(...secretMutations), async (text, [codes, given]) => {
        const found = codesOf(await diagnose(signed(text), { secrets: [given] }));
        expect(found).toEqual(codes);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 40) },
    );
  });

  const garbage = fc.oneof(
    fc.string(),
    anyText,
    fc.constantFrom(
      ...Object.values(signed().headers),
      'v1,',
      'v1a,AA==',
      `${timestamp}`,
      `${timestamp}000`,
      '',
      ' ',
      '%',
      secret,
      rest,
    ),
  );

  test('it never throws, and names no secret', async () => {
    const names = fc.oneof(
      fc.constantFrom(...Object.keys(signed().headers), 'X-Service-Webhook-Signature-Next', 'get', '__proto__'),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(names, garbage)),
        fc.uint8Array({ maxLength: 200 }),
        fc.array(garbage, { maxLength: 3 }),
        fc.option(fc.uint8Array({ maxLength: 20 })),
        async (headers, bytes, secrets, sentBody) => {
          const request = { headers, body: Uint8Array.from(bytes), findings: [] };
          const known = sentBody === null ? null : Uint8Array.from(sentBody);
          const diagnosis = await diagnoseWebhook({
            request,
            secrets: [secret, ...secrets],
            receivedAt,
            sentBody: known,
          });
          expect(diagnosis.isAccepted || diagnosis.findings.length > 0).toBe(true);
          expect(JSON.stringify(diagnosis)).not.toContain(rest);
        },
      ),
      { numRuns: Number(process.env['RUNS'] ?? 60) },
    );
  });

  test('a secret that stands in place of the timestamp is not shown', async () => {
    const found = await diagnose(withHeader('x-service-webhook-timestamp', () => rest));
    expect(codesOf(found)).toContain('TIMESTAMP_MALFORMED');
    expect(JSON.stringify(found)).not.toContain(rest);
  });

  test('a large body ends in bounded time', async () => {
    const large = JSON.stringify({ text: 'é"\\'.repeat(60_000) });
    const found = await diagnose(withBody((bytes) => Buffer.concat([bytes, Buffer.from(' ')]), signed(large)));
    expect(codesOf(found)).toEqual(['BODY_WHITESPACE_CHANGED']);
    expect(codesOf(await diagnose(signed(large), { secrets: [generateWebhookSecret()] }))).toEqual([
      'SIGNATURE_MISMATCH',
    ]);
  });
});
