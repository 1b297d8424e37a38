import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCapturedRequest } from './captured-request.ts';

const bytesOf = (text: string, encoding: BufferEncoding = 'utf8'): Uint8Array =>
  Uint8Array.from(Buffer.from(text, encoding));

/** What was read, with the body as text. */
function read(capture: string | Uint8Array, body: string | null = null): object {
  const bytes = typeof capture === 'string' ? bytesOf(capture) : capture;
  const { request, problem } = readCapturedRequest(bytes, body === null ? null : bytesOf(body));
  if (request === null) return { problem };
  const codes = request.findings.map(({ code }) => code);
  return { headers: request.headers, body: Buffer.from(request.body).toString(), ...(codes.length > 0 && { codes }) };
}

const headers = [
  ['Host', 'receiver.example'],
  ['webhook-id', 'gid://service/WebhookDelivery/1'],
];
const body = '{"a":"é: $(x)\\n"}';

describe('HTTP text', () => {
  test.each([
    [
      'with CR LF',
      `POST /hook?x=1 HTTP/1.1\r\nHost: receiver.example\r\nwebhook-id:gid://service/WebhookDelivery/1\r\n\r\n${body}`,
    ],
    [
      'with LF, and no request line',
      `Host: receiver.example\nwebhook-id:  gid://service/WebhookDelivery/1 \n\n${body}`,
    ],
    [
      'after empty lines',
      `\n\nPOST /hook\nHost: receiver.example\nwebhook-id: gid://service/WebhookDelivery/1\n\n${body}`,
    ],
    ['with a folded header', `Host: receiver.example\nwebhook-id:\n gid://service/WebhookDelivery/1\n\n${body}`],
    [
      'of HTTP/2',
      `:method: POST\n:path: /hook\nHost: receiver.example\nwebhook-id: gid://service/WebhookDelivery/1\n\n${body}`,
    ],
    ['with a byte order mark', `\uFEFFHost: receiver.example\nwebhook-id: gid://service/WebhookDelivery/1\n\n${body}`],
  ])('%s', (_, capture) => {
    const expected = headers.map(([name, value]) => [name, capture.includes(':\n ') ? ` ${value}`.trimStart() : value]);
    expect(read(capture)).toEqual({ headers: expected, body });
  });

  test('keeps every byte of the body', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const capture = Uint8Array.from(Buffer.concat([Buffer.from('a: b\r\n\r\n'), bytes, Buffer.from('\r\n\r\n')]));
    const { request } = readCapturedRequest(capture, null);
    expect(Buffer.from(request?.body ?? [])).toEqual(Buffer.concat([bytes, Buffer.from('\r\n\r\n')]));
  });

  test('with the body in a separate file', () => {
    expect(read('Host: receiver.example\nwebhook-id: gid://service/WebhookDelivery/1', body)).toEqual({
      headers,
      body,
    });
    expect(read('Host: a\n\nignored', body)).toEqual({ headers: [['Host', 'a']], body });
  });

  test('in UTF-16', () => {
    expect(read(bytesOf(`\uFEFFHost: receiver.example\r\n\r\n${body}`, 'utf16le'))).toEqual({
      headers: [['Host', 'receiver.example']],
      body,
      codes: ['CAPTURE_UTF16'],
    });
  });
});

test('the output of curl -v', () => {
  const capture = [
    '* Connected to receiver.example (127.0.0.1) port 443',
    '> POST /hook HTTP/1.1',
    '> Host: receiver.example',
    '> webhook-id: gid://service/WebhookDelivery/1',
    '>',
    '} [17 bytes data]',
    '* upload completely sent off: 17 bytes',
    '< HTTP/1.1 401 Unauthorized',
    '< ',
    body,
  ].join('\n');
  expect(read(capture)).toEqual({ headers, body });
  expect(read(capture.replace(body, ''), body)).toEqual({ headers, body });
});

describe('JSON', () => {
  const object = Object.fromEntries(headers);
  test.each<[string, object]>([
    ['an object', { headers: object, body }],
    ['lists of values', { headers: { Host: ['receiver.example'], 'webhook-id': object['webhook-id'] }, body }],
    ['a list of pairs', { headers, body }],
    ['a list of names and values', { headers: headers.map(([name, value]) => ({ name, value })), body }],
    ['names and values in turn', { headers: headers.flat(), body }],
    ['base64', { headers: object, bodyBase64: Buffer.from(body).toString('base64') }],
    [
      'an event of Lambda',
      { version: '2.0', headers: object, body: Buffer.from(body).toString('base64'), isBase64Encoded: true },
    ],
    ['a Buffer', { headers: object, body: Buffer.from(body) }],
  ])('%s', (_, capture) => {
    expect(read(JSON.stringify(capture, null, 2))).toEqual({ headers, body });
  });

  test('a parsed body', () => {
    expect(read(JSON.stringify({ headers, body: { a: [1, 'é'] } }))).toEqual({
      headers,
      body: '{"a":[1,"é"]}',
      codes: ['BODY_PARSED'],
    });
    expect(read(JSON.stringify({ headers }))).toEqual({ headers, body: '' });
  });
});

test.each<[string, RegExp]>([
  ['', /^The capture is empty\./],
  ['{"headers": {"a"', /^The capture begins with \{ but is not valid JSON\./],
  ['{"body": "x"}', /^The JSON has no headers that can be read\./],
  ['{"headers": {"a": "b"}, "bodyBase64": "%"}', /^The body is not valid base64\.$/],
  ['HTTP/1.1 401 Unauthorized\nDate: x\n\n', /^This is a response\. Capture the request\.$/],
  ['POST / HTTP/1.1\nwhat is this\n\n', /^Line 2 is not a header/],
])('says what is wrong with %j', (capture, problem) => {
  expect(read(capture)).toEqual({ problem: expect.stringMatching(problem) });
});

/** Of any code points. The unit `binary` of fast-check takes a second of CPU time to build. */
const anyText = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});

test('never throws, whatever the bytes are', () => {
  const piece = fc.constantFrom(
    '{',
    '"headers"',
    ':',
    '[',
    ']',
    '}',
    '> POST /',
    '\n',
    '\r\n',
    'a: b',
    '"',
    'null',
    '\uFEFF',
    '\0',
  );
  const text = fc.array(fc.oneof(piece, anyText), { maxLength: 12 }).map((pieces) => pieces.join(''));
  const property = fc.property(
    fc.oneof(
      text.map((one) => bytesOf(one)),
      fc.uint8Array({ maxLength: 300 }),
    ),
    (bytes) => {
      const { request, problem } = readCapturedRequest(bytes, null);
      expect(request === null ? problem.length : request.headers.length).toBeGreaterThan(0);
    },
  );
  fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 100) });
});

test('reads white space and long lines in linear time', () => {
  const long = ' '.repeat(500_000);
  expect(read(`a: b${long}c${long}\n${long}\n${long}x`)).toMatchObject({ headers: [['a', `b${long}c`]] });
  expect(read(`${long}\n${long}x: y`)).toBeDefined();
});
