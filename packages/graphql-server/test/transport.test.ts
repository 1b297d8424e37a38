import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { jsonHeaders, key, otherInterfaceKey, startSampleServer, stored } from './sample-server.ts';

const server = await forFile(startSampleServer({ limits: { bodyBytes: 2000, bodyMs: 300, operationMs: 300 } }));
const headers = jsonHeaders;
const graphqlJson = { ...headers, Accept: 'application/graphql-response+json' };

interface Received {
  status: number;
  headers: Headers;
  body: {
    data?: unknown;
    errors?: {
      message: string;
      path?: unknown;
      locations?: unknown;
      extensions: { code: string; requestId: string; documentationUrl: string };
    }[];
  };
  /** `200`, or `400 BAD_REQUEST`. */
  summary: string;
}

/** Sends a string or bytes unchanged, and anything else as JSON. */
async function send(body: unknown, init: RequestInit = {}): Promise<Received> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : (JSON.stringify(body) ?? '');
  const response = await fetch(server.url, { method: 'POST', headers, body: Buffer.from(text), ...init });
  const received: Received['body'] = JSON.parse(await response.text());
  const code = received.errors?.[0]?.extensions.code;
  return {
    status: response.status,
    headers: response.headers,
    body: received,
    summary: code === undefined ? String(response.status) : `${response.status} ${code}`,
  };
}

/** Sends a request. Returns its line of the log. */
async function lineOf(body: object) {
  const { headers: received } = await send(body);
  return server.logged.find(({ requestId }) => requestId === received.get('x-request-id'));
}

const hello = { query: '{ hello }' };

test('a condition that is null is an error at every run of an operation', async () => {
  const query = 'mutation($skip: Boolean = true) { second @skip(if: $skip) }';
  const codes = [];
  for (let run = 0; run < 4; run += 1) codes.push((await send({ query, variables: { skip: null } })).summary);
  expect(codes).toEqual(Array.from({ length: 4 }, () => '200 BAD_USER_INPUT'));
});

describe('a response', () => {
  test('has the data, no caching, a request id and the schema version', async () => {
    const response = await send(hello);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ data: { hello: 'hello world' }, extensions: expect.any(Object) });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-service-schema-version')).toBe('2026-01-01');
  });

  test('has a code, the request id and a documentation URL when the request failed', async () => {
    const { headers: received, body } = await send({ query: '{ nope }' }, { headers: graphqlJson });
    expect(received.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
    expect(body).toEqual({
      errors: [
        {
          message: 'Cannot query field "nope" on type "Query".',
          locations: [{ line: 1, column: 3 }],
          extensions: {
            code: 'GRAPHQL_VALIDATION_FAILED',
            requestId: received.get('x-request-id'),
            documentationUrl: 'https://docs.example/errors.md#graphql_validation_failed',
          },
        },
      ],
    });
  });

  test('has a generated request id, even when the client sends its own', async () => {
    const { headers: received } = await send(hello, { headers: { ...headers, 'X-Request-Id': 'theirs' } });
    const requestId = received.get('x-request-id');
    expect(requestId).not.toBe('theirs');
    expect(server.logged.find((line) => line.requestId === requestId)).toMatchObject({ clientRequestId: 'theirs' });
  });

  test('leaves a line in the log with the key id and the address of the client', async () => {
    const { headers: received } = await send(hello);
    const line = server.logged.find(({ requestId }) => requestId === received.get('x-request-id'));
    expect(line).toMatchObject({ clientId: 'client-1', keyId: stored.keyId, address: '127.0.0.1', status: 200 });
  });

  test('leaves a line with the SHA-256 of the document and the beginning of the name, without variables', async () => {
    const query = `query ${'Name'.repeat(20)}($isIncluded: Boolean!) { hello @include(if: $isIncluded) }`;
    const line = await lineOf({ query, variables: { isIncluded: true } });
    expect(line).toMatchObject({ operation: hash('sha256', query), operationName: 'Name'.repeat(16), status: 200 });
    expect(JSON.stringify(line)).not.toContain('isIncluded');
    // The cached document has the same hash.
    expect(await lineOf({ query, variables: { isIncluded: false } })).toMatchObject({
      operation: hash('sha256', query),
    });
    const rejected = await lineOf({ query: '{ nope }' });
    expect(rejected).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    expect(rejected).not.toHaveProperty('operation');
    expect(rejected).not.toHaveProperty('operationName');
  });
});

describe('media types', () => {
  const json = 'application/json; charset=utf-8';
  const graphql = 'application/graphql-response+json; charset=utf-8';
  test.each([
    ['*/*', json],
    ['application/*', json],
    ['application/json', json],
    ['APPLICATION/JSON;charset="UTF-8"', json],
    ['application/graphql-response+json', graphql],
    ['application/json, application/graphql-response+json', graphql],
    ['application/json, application/graphql-response+json;q=0.9', json],
    ['application/graphql-response+json;q=0.5, */*;q=0.1', graphql],
    ['application/graphql-response+json;q=0, */*', json],
    ['text/html, */*;q=0.1', json],
    // The default of Java's HttpURLConnection, up to 17.0.11.
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', json],
    ['*', json],
    ['text/html, *;q=0.1', json],
    ['application/json;q=x', json],
    ['application/json;q=-1', json],
    ['application/json;q="0.5"', json],
    ['application/json;q=2, application/graphql-response+json', graphql],
    ['application/json;q=.9, application/graphql-response+json;q=1.5', graphql],
    ['application/json;q=.9, application/graphql-response+json;q=.8', json],
    ['json', json],
    [' , ;q=0', json],
  ])('responds to Accept: %s with %s', async (accept, contentType) => {
    const response = await send(hello, { headers: { ...headers, Accept: accept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, contentType]);
  });

  test.each([
    'text/html',
    'application/json;q=0',
    'application/json; q = 0',
    '*;q=0',
    'application/json;charset=latin1',
  ])('returns 406 for Accept: %s', async (accept) => {
    expect((await send(hello, { headers: { ...headers, Accept: accept } })).summary).toBe('406 NOT_ACCEPTABLE');
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;Charset="UTF-8"'])(
    'accepts Content-Type: %s',
    async (type) => {
      expect((await send(hello, { headers: { ...headers, 'Content-Type': type } })).status).toBe(200);
    },
  );

  test.each(['application/jsonx', ''])('returns 415 for Content-Type: %s', async (type) => {
    const response = await send(hello, { headers: { ...headers, 'Content-Type': type } });
    expect(response.summary).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  });

  test('returns 415 and Accept-Encoding for a compressed body', async () => {
    const body = gzipSync(JSON.stringify(hello));
    const response = await send(body, { headers: { ...headers, 'Content-Encoding': 'gzip' } });
    expect(response.summary).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(response.headers.get('accept-encoding')).toBe('identity');
  });
});

describe('methods and paths', () => {
  test.each(['GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE'])('returns 405 and Allow: POST for %s', async (method) => {
    const response = await fetch(server.url, { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test.each(['/', '/graphql', '/supplier/graphql/', '/supplier//graphql', '/customer/graphql', '//x/supplier/graphql'])(
    'returns 404 as JSON for %s',
    async (path) => {
      const response = await raw(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      expect(response).toMatch(/^HTTP\/1\.1 404 /);
      expect(response).toContain('"code":"NOT_FOUND"');
      expect(response).toContain('This path does not exist. Send requests to /supplier/graphql.');
    },
  );

  test('accepts the absolute form of the path', async () => {
    expect(await raw(rawRequest('{"query":"{ hello }"}', { target: 'http://other.example/supplier/graphql' }))).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expect(await raw(rawRequest('{}', { target: 'http://other.example/' }))).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('credentials', () => {
  const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
  test.each([
    ['no key', without('X-Service-API-Key')],
    ['an empty key', { ...headers, 'X-Service-API-Key': '' }],
    ['a malformed key', { ...headers, 'X-Service-API-Key': 'key' }],
    [
      'an unknown key',
      {
        ...headers,
        'X-Service-API-Key': 'dw_supplier_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_1BJ2AP',
      },
    ],
    ['another client', { ...headers, 'X-Service-Client-Id': 'client-2' }],
    ['another organization', { ...headers, 'X-Service-Organization-Id': 'org-2' }],
    [
      'a key of the other interface with a wrong checksum',
      { ...headers, 'X-Service-API-Key': `${otherInterfaceKey.slice(0, -6)}000000` },
    ],
  ])('returns the same 401 for %s', async (_, wrong) => {
    const response = await send(hello, { headers: wrong });
    expect(response.summary).toBe('401 UNAUTHENTICATED');
    expect(response.body.errors?.[0]?.message).toBe(
      'The credentials are missing or invalid. Check X-Service-Client-Id, X-Service-API-Key and X-Service-Organization-Id.',
    );
    expect(response.headers.get('www-authenticate')).toBe('ApiKey realm="deedwire"');
    expect(response.headers.get('x-service-schema-version')).toBeNull();
  });

  test('returns 403 for a key of the other interface, without a query to the store', async () => {
    server.findKeysWith(() => Promise.reject(new Error('must not be called')));
    const response = await send(hello, { headers: { ...headers, 'X-Service-API-Key': otherInterfaceKey } });
    server.findKeysWith(async () => stored);
    expect(response.summary).toBe('403 WRONG_INTERFACE');
  });

  test('checks credentials before the body', async () => {
    expect((await send('{', { headers: without('X-Service-API-Key') })).status).toBe(401);
  });

  test('returns 503 while the store is unavailable', async () => {
    server.findKeysWith(() => Promise.reject(Object.assign(new Error('10.0.0.7:5432'), { code: 'STORE_UNAVAILABLE' })));
    const response = await send(hello);
    server.findKeysWith(async () => stored);
    expect(response.summary).toBe('503 SERVICE_UNAVAILABLE');
    expect(response.headers.get('retry-after')).toBe('5');
    expect(JSON.stringify(response.body)).not.toContain('10.0.0.7');
  });
});

test('returns 503 for every operation until the service is ready', async () => {
  server.setReady(false);
  const response = await send(hello);
  server.setReady(true);
  expect(response.summary).toBe('503 SERVICE_UNAVAILABLE');
});

const notAnArray =
  'must be an object or null, not an array. Send {} or null instead of []. In PHP, cast an empty array to (object).';
const notNamed = '"variables" must be an object or null, not an array. Name each value, as in {"first": 10}.';

describe('bodies', () => {
  test.each([
    ['NUL bytes', '\0\0', 'The body is not valid JSON.'],
    ['variables as an array of values', { ...hello, variables: [1] }, notNamed],
    ['extensions as an array', { ...hello, extensions: [] }, `"extensions" ${notAnArray}`],
    ['arrays in arrays', '['.repeat(1999), 'The body is not valid JSON.'],
  ])('returns 400 for %s', async (_, body, message) => {
    const response = await send(body);
    expect(response.summary).toBe('400 BAD_REQUEST');
    expect(response.body.errors?.[0]?.message).toBe(message);
  });

  test('accepts __proto__ members in variables', async () => {
    const body = '{"query":"{ hello }","__proto__":{"query":1},"variables":{"__proto__":{"name":"x"},"constructor":1}}';
    expect((await send(body)).body).toEqual({ data: { hello: 'hello world' }, extensions: expect.any(Object) });
  });

  test('returns 413 for a body that is too large, declared or streamed', async () => {
    const large = JSON.stringify({ query: `{ hello } #${'x'.repeat(2000)}` });
    const declared = await send(large);
    expect(declared.summary).toBe('413 PAYLOAD_TOO_LARGE');
    expect(declared.body.errors?.[0]?.message).toBe('The body has 2,023 bytes; at most 2,000 are allowed.');
    const chunked = rawHead('Transfer-Encoding: chunked\r\n') + `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    const streamed = await raw(chunked);
    expect(streamed).toMatch(/^HTTP\/1\.1 413 /);
    expect(streamed).toMatch(/The body has at least 2,\d+ bytes; at most 2,000 are allowed\./);
  });

  test('returns 413 for a body that is far too large, and keeps serving', async () => {
    expect((await send('x'.repeat(10_000_000))).summary).toBe('413 PAYLOAD_TOO_LARGE');
    expect((await send(hello)).status).toBe(200);
  });

  test('returns 408 for a body that is too slow, and closes the connection', async () => {
    const response = await raw(`${rawHead('Content-Length: 100\r\n')}{"query"`);
    expect(response).toMatch(/^HTTP\/1\.1 408 /);
    expect(response).toContain('"code":"REQUEST_TIMEOUT"');
    expect(response).toContain('The body was not complete after 0.3 seconds: 8 of 100 bytes had arrived.');
  });

  test.each(['*', '*:x', '*%', '*^'])('responds 404 to the target %s', async (target) => {
    const received = await raw(rawRequest('{"query":"{ hello }"}', { target }));
    expect(received).toMatch(/^HTTP\/1\.1 404 /);
    expect(received).toContain('"code":"NOT_FOUND"');
  });

  test('answers Expect: 100-continue only to authenticated clients', async () => {
    const expecting = rawHead('Expect: 100-continue\r\nConnection: close\r\nContent-Length: 21\r\n');
    expect(await raw(expecting.replace(key.apiKey, otherInterfaceKey))).toMatch(/^HTTP\/1\.1 403 /);
    expect(await raw(expecting.replace('Content-Type', 'X-Content-Type'))).toMatch(/^HTTP\/1\.1 415 /);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(expecting);
    let received = '';
    for await (const chunk of socket) {
      received += String(chunk);
      if (received === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write('{"query":"{ hello }"}');
    }
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  test('reads at most a bounded part of the body of a request that it rejects', async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.write(rawHead('Transfer-Encoding: chunked\r\n').replace(key.apiKey, 'none'));
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    while (!isClosed) {
      if (socket.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
      else await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
    expect(received).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n(?:.*\r\n)*Connection: close\r\n/);
    // The bytes that the server has read, and those in the buffers of both sockets.
    expect(socket.bytesWritten - socket.writableLength).toBeLessThan(16_000_000);
  });

  test('keeps serving after a client disconnects within a body', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end(`${rawHead('Content-Length: 100\r\n')}{"query"`);
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect((await send(hello)).status).toBe(200);
  });
});

// What clients with automatic persisted queries send first. They send the document only after exactly this response.
describe('a hash without a document', () => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: 'ab'.repeat(32) } };
  const search = new URLSearchParams({ operationName: 'Q', extensions: JSON.stringify(extensions) });
  const probes: [string, (init: RequestInit) => Promise<Response>][] = [
    [
      'POST',
      (init) =>
        fetch(server.url, { method: 'POST', body: JSON.stringify({ operationName: 'Q', extensions }), ...init }),
    ],
    ['GET', (init) => fetch(`${server.url}?${search}`, init)],
  ];

  test.each(probes)('is not supported with %s', async (_, probe) => {
    const answers = [await probe({ headers }), await probe({ headers: graphqlJson })];
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    for (const answer of answers)
      expect(await answer.json()).toEqual({
        errors: [
          {
            message: 'PersistedQueryNotSupported',
            extensions: {
              code: 'PERSISTED_QUERY_NOT_SUPPORTED',
              requestId: expect.any(String),
              documentationUrl: 'https://docs.example/errors.md#persisted_query_not_supported',
            },
          },
        ],
      });
  });
});

describe('documents', () => {
  test.each([
    ['a syntax error', { query: '{ hello' }, 'GRAPHQL_PARSE_FAILED'],
    ['a lone surrogate', '{"query":"{ hello(name: \\"\\ud800\\") }"}', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', { query: '{ nope }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['only a fragment', { query: 'fragment F on Query { hello }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a fragment that spreads itself', { query: '{ ...F } fragment F on Query { ...F }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an escaped NUL', { query: '{ hello(name: "\\u0000") }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a number out of range', { query: '{ hello(times: 99999999999) }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a subscription', { query: 'subscription { hello }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown operation name', { ...hello, operationName: 'X' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a blank operation name', { ...hello, operationName: ' ' }, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'several operations without a name',
      { query: 'query A { hello } query B { hello }' },
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['a missing variable', { query: 'query ($n: String!) { hello(name: $n) }' }, 'BAD_USER_INPUT'],
    [
      'a variable of another type',
      { query: 'query ($n: String) { hello(name: $n) }', variables: { n: {} } },
      'BAD_USER_INPUT',
    ],
    [
      'a variable with NUL',
      { query: 'query ($n: String) { hello(name: $n) }', variables: { n: '\0' } },
      'BAD_USER_INPUT',
    ],
    [
      'a variable with a lone surrogate',
      { query: 'query ($n: String) { hello(name: $n) }', variables: { n: '\ud800' } },
      'BAD_USER_INPUT',
    ],
    ['a huge number', '{"query":"query ($t: Int!) { hello(times: $t) }","variables":{"t":1e400}}', 'BAD_USER_INPUT'],
    [
      'an input object with __proto__',
      '{"query":"mutation ($i: FirstInput!) { first(input: $i) }","variables":{"i":{"name":"a","__proto__":{}}}}',
      'BAD_USER_INPUT',
    ],
  ])(
    'returns 200 with application/json and 400 with application/graphql-response+json for %s',
    async (_, body, code) => {
      expect((await send(body)).summary).toBe(`200 ${code}`);
      const response = await send(body, { headers: graphqlJson });
      expect(response.summary).toBe(`400 ${code}`);
      expect(response.body).not.toHaveProperty('data');
    },
  );

  test.each([
    ['an anonymous operation', '{ hello }', '200'],
    ['one operation', 'query A { hello }', '200'],
    ['two operations', 'query A { hello } query B { hello }', '200 GRAPHQL_VALIDATION_FAILED'],
  ])('takes an empty operation name as none for %s', async (_, query, expected) => {
    const responses = await Promise.all(['', null, undefined].map((operationName) => send({ query, operationName })));
    expect(responses.map(({ summary }) => summary)).toEqual([expected, expected, expected]);
    const messages = responses.map(({ body }) => body.errors?.map(({ message }) => message));
    expect(messages).toEqual([messages[1], messages[1], messages[1]]);
  });

  test.each([
    ['two root fields', 'mutation { first(input: { name: "a" }) second }'],
    ['two aliases of one field', 'mutation { a: second b: second }'],
    [
      'one field next to another in a fragment',
      'mutation { second ...F } fragment F on Mutation { ... { first(input: { name: "a" }) } }',
    ],
    ['a field that @skip removes', 'mutation { second first(input: { name: "a" }) @skip(if: true) }'],
  ])('rejects a mutation with %s', async (_, query) => {
    const response = await send({ query }, { headers: graphqlJson });
    expect(response.summary).toBe('400 OPERATION_TOO_COMPLEX');
    expect((await send({ query })).summary).toBe('200 OPERATION_TOO_COMPLEX');
  });

  test('runs a mutation with one root field on behalf of the authenticated client', async () => {
    const query =
      'query Q { hello } mutation M { __typename first(input: { name: "a" }) ...F } fragment F on Mutation { first(input: { name: "a" }) }';
    expect((await send({ query, operationName: 'M' })).body).toEqual({
      data: { __typename: 'Mutation', first: 'client-1 a' },
      extensions: expect.any(Object),
    });
  });

  test('limits the length of messages that quote the document', async () => {
    const { body } = await send({ query: `{ ${'x'.repeat(1900)} }` });
    expect(body.errors?.[0]?.message.length).toBeLessThan(510);
  });
});

describe('field errors', () => {
  test.each([
    ['a bug', '{ hello fail(how: "bug") }', { hello: 'hello world', fail: null }, 'INTERNAL_SERVER_ERROR', 200],
    ['a bug with an odd code', '{ fail(how: "odd") }', { fail: null }, 'INTERNAL_SERVER_ERROR', 200],
    ['a result of the wrong type', '{ count }', { count: null }, 'INTERNAL_SERVER_ERROR', 200],
    ['a bug in a non-null field', '{ required }', null, 'INTERNAL_SERVER_ERROR', 500],
    ['invalid input', '{ fail(how: "input") }', { fail: null }, 'BAD_USER_INPUT', 200],
    [
      'null for an argument with a default',
      'query ($t: Int = 1) { hello(times: $t) }',
      { hello: null },
      'BAD_USER_INPUT',
      200,
    ],
  ])('maps %s to its public error, each time it is sent', async (_, query, data, code, status) => {
    // From the third time on, an operation runs by a plan.
    for (let time = 1; time <= 4; time += 1) {
      const response = await send({ query, variables: { t: null } });
      expect(response.summary).toBe(`${status} ${code}`);
      expect(response.body.data).toEqual(data);
      expect(response.body.errors?.[0]).toHaveProperty('path');
      expect(JSON.stringify(response.body)).not.toMatch(/secret|internal_table|not a number/);
    }
  });

  test('names at most 10 places of a field, whose lines are not counted again, each time it is sent', async () => {
    const field = '\n  fail(how: "input")';
    for (let time = 1; time <= 4; time += 1) {
      const { body } = await send({ query: `{\n  hello${field.repeat(12)}\n}` });
      expect(body.errors?.map(({ locations }) => locations)).toEqual([
        Array.from({ length: 10 }, (_, index) => ({ line: 3 + index, column: 3 })),
      ]);
      const { body: invalid } = await send({ query: '# n\n\nquery ($n: Int!) {\n hello(times: $n) }' });
      expect(invalid.errors?.[0]?.locations).toEqual([{ line: 3, column: 8 }]);
    }
  });

  test('keeps the message of an input error', async () => {
    const { body } = await send({ query: '{ fail(how: "input") }' });
    expect(body.errors?.[0]?.message).toBe('"first" must be from 1 to 100.');
  });

  test('logs the stack of a bug under the request id', async () => {
    const { headers: received } = await send({ query: '{ fail(how: "bug") }' });
    const line = server.logged.find(
      ({ requestId, level }) => requestId === received.get('x-request-id') && level === 'error',
    );
    expect(JSON.stringify(line)).toContain('internal_table');
  });

  test('turns the whole response into a 503 when the store is unavailable', async () => {
    const response = await send({ query: '{ hello fail(how: "store") }' });
    expect(response.summary).toBe('503 SERVICE_UNAVAILABLE');
    expect(response.headers.get('retry-after')).toBe('5');
    expect(response.body).not.toHaveProperty('data');
    expect(JSON.stringify(response.body)).not.toContain('10.0.0.7');
  });

  test('turns the whole response into a 503 on a timeout, each time it is sent', async () => {
    for (let time = 1; time <= 3; time += 1) {
      const response = await send({ query: '{ hello slow }' });
      expect(response.summary).toBe('503 OPERATION_TIMEOUT');
      expect(response.headers.get('retry-after')).toBe('5');
    }
  });
});

test('records durations by interface, version and outcome', async () => {
  const text = await server.metrics.metrics();
  expect(text).toContain(
    'deedwire_graphql_request_duration_seconds_count{interface="supplier",version="2026-01-01",outcome="OK"}',
  );
  expect(text).toContain(
    'deedwire_graphql_request_duration_seconds_count{interface="supplier",version="none",outcome="UNAUTHENTICATED"}',
  );
});

function rawHead(more: string, target = '/supplier/graphql'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${target} HTTP/1.1\r\nHost: a\r\n${lines.join('')}${more}\r\n`;
}

function rawRequest(body: string, { target, more = '' }: { target?: string; more?: string } = {}): string {
  return `${rawHead(`Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}`, target)}${body}`;
}

/** Sends bytes unchanged and waits until the connection is closed. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(bytes);
  socket.setTimeout(120_000, () => socket.destroy());
  let received = '';
  for await (const chunk of socket) {
    received += String(chunk);
    if (received.includes('"errors"')) socket.end();
  }
  return received;
}
