import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { key, otherInterfaceKey, type SampleServer, startSampleServer, stored } from './sample-server.ts';

let server: SampleServer;
beforeAll(async () => {
  server = await startSampleServer({ bodyBytes: 2000, bodyMs: 300, operationMs: 300 });
});
afterAll(() => server.close());

const credentials = {
  'X-Service-Client-Id': 'client-1',
  'X-Service-API-Key': key.apiKey,
  'X-Service-Organization-Id': 'org-1',
};
const headers = { ...credentials, 'Content-Type': 'application/json' };
const graphqlJson = { ...headers, Accept: 'application/graphql-response+json' };

interface Answered {
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

/** A string goes as it is, everything else as JSON. */
async function send(body: unknown, init: RequestInit = {}): Promise<Answered> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : (JSON.stringify(body) ?? '');
  const response = await fetch(server.url, { method: 'POST', headers, body: Buffer.from(text), ...init });
  const answer: Answered['body'] = JSON.parse(await response.text());
  const code = answer.errors?.[0]?.extensions.code;
  return {
    status: response.status,
    headers: response.headers,
    body: answer,
    summary: code === undefined ? String(response.status) : `${response.status} ${code}`,
  };
}

const hello = { query: '{ hello }' };

describe('an answer', () => {
  test('holds the data, is not stored anywhere, and says who answered with what', async () => {
    const answer = await send(hello);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: { hello: 'hello world' } });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get('x-service-schema-version')).toBe('2026-01-01');
  });

  test('that failed carries code, request id and a page that explains', async () => {
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

  test('has an id of ours, whatever id the client gives its request', async () => {
    const { headers: received } = await send(hello, { headers: { ...headers, 'X-Request-Id': 'theirs' } });
    const requestId = received.get('x-request-id');
    expect(requestId).not.toBe('theirs');
    expect(server.logged.find((line) => line.requestId === requestId)).toMatchObject({ clientRequestId: 'theirs' });
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
  ])('Accept: %s is answered with %s', async (accept, contentType) => {
    const answer = await send(hello, { headers: { ...headers, Accept: accept } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, contentType]);
  });

  test.each(['text/html', 'application/json;q=0', 'application/json;charset=latin1', 'json', 'application/json;q=x'])(
    'Accept: %s is 406',
    async (accept) => {
      expect((await send(hello, { headers: { ...headers, Accept: accept } })).summary).toBe('406 NOT_ACCEPTABLE');
    },
  );

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;Charset="UTF-8"'])(
    'Content-Type: %s is read',
    async (type) => {
      expect((await send(hello, { headers: { ...headers, 'Content-Type': type } })).status).toBe(200);
    },
  );

  test.each([
    'text/plain',
    'application/graphql',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/jsonx',
    '',
  ])('Content-Type: %s is 415', async (type) => {
    const answer = await send(hello, { headers: { ...headers, 'Content-Type': type } });
    expect(answer.summary).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  });

  test('a compressed body is 415 and says what is read', async () => {
    const body = gzipSync(JSON.stringify(hello));
    const answer = await send(body, { headers: { ...headers, 'Content-Encoding': 'gzip' } });
    expect(answer.summary).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(answer.headers.get('accept-encoding')).toBe('identity');
  });
});

describe('methods and paths', () => {
  test.each(['GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE'])('%s is 405 and names POST', async (method) => {
    const response = await fetch(server.url, { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test.each(['/', '/graphql', '/lenders/graphql/', '/lenders//graphql', '/partners/graphql', '//x/lenders/graphql'])(
    '%s is 404 as JSON',
    async (path) => {
      const answer = await raw(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('"code":"NOT_FOUND"');
    },
  );

  test('the absolute form of the path is the same as the path', async () => {
    expect(await raw(rawRequest('{"query":"{ hello }"}', { target: 'http://other.example/lenders/graphql' }))).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expect(await raw(rawRequest('{}', { target: 'http://other.example/' }))).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('credentials', () => {
  const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
  test.each([
    ['no client id', without('X-Service-Client-Id')],
    ['no key', without('X-Service-API-Key')],
    ['no organization', without('X-Service-Organization-Id')],
    ['an empty key', { ...headers, 'X-Service-API-Key': '' }],
    ['a malformed key', { ...headers, 'X-Service-API-Key': 'key' }],
    [
      'an unknown key',
      { ...headers, 'X-Service-API-Key': 'dw_lender_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_2yWAfE' },
    ],
    ['another client', { ...headers, 'X-Service-Client-Id': 'client-2' }],
    ['another organization', { ...headers, 'X-Service-Organization-Id': 'org-2' }],
    [
      'a key of the other interface with a wrong checksum',
      { ...headers, 'X-Service-API-Key': `${otherInterfaceKey.slice(0, -6)}000000` },
    ],
  ])('%s is the same 401', async (_, wrong) => {
    const answer = await send(hello, { headers: wrong });
    expect(answer.summary).toBe('401 UNAUTHENTICATED');
    expect(answer.body.errors?.[0]?.message).toBe('The credentials are missing or not valid.');
    expect(answer.headers.get('www-authenticate')).toBe('ApiKey realm="deedwire"');
    expect(answer.headers.get('x-service-schema-version')).toBeNull();
  });

  test('sent twice is 401, also when both are right', async () => {
    const twice = rawRequest(JSON.stringify(hello), { more: `X-Service-API-Key: ${key.apiKey}\r\n` });
    expect(await raw(twice)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('of the other interface are 403, without asking the store', async () => {
    server.answerKeys(() => Promise.reject(new Error('not to be asked')));
    const answer = await send(hello, { headers: { ...headers, 'X-Service-API-Key': otherInterfaceKey } });
    server.answerKeys(async () => stored);
    expect(answer.summary).toBe('403 WRONG_INTERFACE');
  });

  test('are looked at before the body', async () => {
    expect((await send('{', { headers: without('X-Service-API-Key') })).status).toBe(401);
  });

  test('cannot be checked while the store is away: 503', async () => {
    server.answerKeys(() => Promise.reject(Object.assign(new Error('10.0.0.7:5432'), { code: 'STORE_UNAVAILABLE' })));
    const answer = await send(hello);
    server.answerKeys(async () => stored);
    expect(answer.summary).toBe('503 SERVICE_UNAVAILABLE');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(JSON.stringify(answer.body)).not.toContain('10.0.0.7');
  });
});

test('before the service is ready every operation is 503', async () => {
  server.setReady(false);
  const answer = await send(hello);
  server.setReady(true);
  expect(answer.summary).toBe('503 SERVICE_UNAVAILABLE');
});

describe('bodies', () => {
  test.each([
    ['nothing', undefined, 'The body is empty.'],
    ['blanks', ' \n', 'The body is empty.'],
    ['half an object', '{"query":"{ secret', 'The body is not JSON.'],
    ['a GraphQL document', '{ hello }', 'The body is not JSON.'],
    ['NUL bytes', '\0\0', 'The body is not JSON.'],
    ['no UTF-8', new Uint8Array([0x22, 0xc3, 0x28, 0x22]), 'The body is not UTF-8.'],
    ['a batch', [hello, hello], 'The body must be one request: batches are not supported.'],
    ['null', 'null', 'The body must be a JSON object.'],
    ['a string', '"{ hello }"', 'The body must be a JSON object.'],
    ['no query', {}, '"query" must be a GraphQL document as a string.'],
    ['an empty query', { query: ' ' }, '"query" must be a GraphQL document as a string.'],
    ['a query that is no string', { query: { hello: true } }, '"query" must be a GraphQL document as a string.'],
    ['variables as a list', { ...hello, variables: [] }, '"variables" must be an object or null.'],
    ['variables as a string', { ...hello, variables: '{}' }, '"variables" must be an object or null.'],
    [
      'an operation name that is no string',
      { ...hello, operationName: 1 },
      '"operationName" must be a string or null.',
    ],
    ['extensions as a string', { ...hello, extensions: 'x' }, '"extensions" must be an object or null.'],
    ['arrays in arrays', '['.repeat(1999), 'The body is not JSON.'],
  ])('%s is 400', async (_, body, message) => {
    const answer = await send(body);
    expect(answer.summary).toBe('400 BAD_REQUEST');
    expect(answer.body.errors?.[0]?.message).toBe(message);
  });

  test.each([
    ['with a byte order mark', `\uFEFF${JSON.stringify(hello)}`],
    ['with null where something could be', { ...hello, variables: null, operationName: null, extensions: null }],
    ['with members that nobody knows', { ...hello, doc_id: 1, constructor: 1 }],
    [
      'with __proto__ members',
      '{"query":"{ hello }","__proto__":{"query":1},"variables":{"__proto__":{"name":"x"},"constructor":1}}',
    ],
  ])('%s is read', async (_, body) => {
    expect((await send(body)).body).toEqual({ data: { hello: 'hello world' } });
  });

  test('too large is 413, said or streamed', async () => {
    const large = JSON.stringify({ query: `{ hello } #${'x'.repeat(2000)}` });
    expect((await send(large)).summary).toBe('413 PAYLOAD_TOO_LARGE');
    const chunked = rawHead('Transfer-Encoding: chunked\r\n') + `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    expect(await raw(chunked)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('far too large is 413, and the server goes on', async () => {
    expect((await send('x'.repeat(10_000_000))).summary).toBe('413 PAYLOAD_TOO_LARGE');
    expect((await send(hello)).status).toBe(200);
  });

  test('too slow is 408, and the connection ends', async () => {
    const answer = await raw(`${rawHead('Content-Length: 100\r\n')}{"query"`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"REQUEST_TIMEOUT"');
  });

  test('broken off by the client harms nobody', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end(`${rawHead('Content-Length: 100\r\n')}{"query"`);
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect((await send(hello)).status).toBe(200);
  });
});

describe('documents', () => {
  test.each([
    ['a syntax error', { query: '{ hello' }, 'GRAPHQL_PARSE_FAILED'],
    ['a lone surrogate', '{"query":"{ hello(name: \\"\\ud800\\") }"}', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', { query: '{ nope }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown argument', { query: '{ hello(nope: 1) }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['only a fragment', { query: 'fragment F on Query { hello }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a fragment that spreads itself', { query: '{ ...F } fragment F on Query { ...F }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an escaped NUL', { query: '{ hello(name: "\\u0000") }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a number that does not fit', { query: '{ hello(times: 99999999999) }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a subscription', { query: 'subscription { hello }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an operation name that is not there', { ...hello, operationName: 'X' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an empty operation name', { ...hello, operationName: '' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['several operations and no name', { query: 'query A { hello } query B { hello }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['deep nesting that is not closed', { query: '{a'.repeat(900) }, 'GRAPHQL_PARSE_FAILED'],
    ['deep lists', { query: `{ hello(name: ${nested('[', ']')}) }` }, 'GRAPHQL_VALIDATION_FAILED'],
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
  ])('%s is 200 for older clients and 400 for newer ones', async (_, body, code) => {
    expect((await send(body)).summary).toBe(`200 ${code}`);
    const answer = await send(body, { headers: graphqlJson });
    expect(answer.summary).toBe(`400 ${code}`);
    expect(answer.body).not.toHaveProperty('data');
  });

  test.each([
    ['two root fields', 'mutation { first(input: { name: "a" }) second }'],
    ['two aliases of one', 'mutation { a: second b: second }'],
    [
      'one beside another in a fragment',
      'mutation { second ...F } fragment F on Mutation { ... { first(input: { name: "a" }) } }',
    ],
    ['one that may be skipped', 'mutation { second first(input: { name: "a" }) @skip(if: true) }'],
  ])('a mutation with %s is 400', async (_, query) => {
    expect((await send({ query })).summary).toBe('400 OPERATION_TOO_COMPLEX');
  });

  test('a mutation with one root field is run, as the client that sent it', async () => {
    const query =
      'query Q { hello } mutation M { __typename first(input: { name: "a" }) ...F } fragment F on Mutation { first(input: { name: "a" }) }';
    expect((await send({ query, operationName: 'M' })).body).toEqual({
      data: { __typename: 'Mutation', first: 'client-1 a' },
    });
  });

  test('messages do not grow with the document', async () => {
    const { body } = await send({ query: `{ ${'x'.repeat(1900)} }` });
    expect(body.errors?.[0]?.message.length).toBeLessThan(510);
  });
});

describe('fields that fail', () => {
  test.each([
    ['a bug', '{ hello fail(how: "bug") }', { hello: 'hello world', fail: null }, 'INTERNAL_SERVER_ERROR', 200],
    ['a bug with an odd code', '{ fail(how: "odd") }', { fail: null }, 'INTERNAL_SERVER_ERROR', 200],
    ['a result of the wrong type', '{ count }', { count: null }, 'INTERNAL_SERVER_ERROR', 200],
    ['a bug that leaves no data', '{ required }', null, 'INTERNAL_SERVER_ERROR', 500],
    ['bad input', '{ fail(how: "input") }', { fail: null }, 'BAD_USER_INPUT', 200],
    ['null for a default', 'query ($t: Int = 1) { hello(times: $t) }', { hello: null }, 'BAD_USER_INPUT', 200],
  ])('%s', async (_, query, data, code, status) => {
    const answer = await send({ query, variables: { t: null } });
    expect(answer.summary).toBe(`${status} ${code}`);
    expect(answer.body.data).toEqual(data);
    expect(answer.body.errors?.[0]).toHaveProperty('path');
    expect(JSON.stringify(answer.body)).not.toMatch(/secret|internal_table|not a number/);
  });

  test('say what is wrong with the input', async () => {
    const { body } = await send({ query: '{ fail(how: "input") }' });
    expect(body.errors?.[0]?.message).toBe('"first" must be from 1 to 100.');
  });

  test('leave the stack of a bug in the log, under the request id', async () => {
    const { headers: received } = await send({ query: '{ fail(how: "bug") }' });
    const line = server.logged.find(
      ({ requestId, level }) => requestId === received.get('x-request-id') && level === 'error',
    );
    expect(JSON.stringify(line)).toContain('internal_table');
  });

  test('because the store is away make the whole answer a 503', async () => {
    const answer = await send({ query: '{ hello fail(how: "store") }' });
    expect(answer.summary).toBe('503 SERVICE_UNAVAILABLE');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.body).not.toHaveProperty('data');
    expect(JSON.stringify(answer.body)).not.toContain('10.0.0.7');
  });

  test('after too long make it a 503 too', async () => {
    const answer = await send({ query: '{ hello slow }' });
    expect(answer.summary).toBe('503 OPERATION_TIMEOUT');
    expect(answer.headers.get('retry-after')).toBe('5');
  });
});

test('durations are counted by interface, version and outcome', async () => {
  const text = await server.metrics.metrics();
  expect(text).toContain(
    'graphql_request_duration_seconds_count{interface="lender",version="2026-01-01",outcome="OK"}',
  );
  expect(text).toContain(
    'graphql_request_duration_seconds_count{interface="lender",version="none",outcome="UNAUTHENTICATED"}',
  );
});

function rawHead(more: string, target = '/lenders/graphql'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${target} HTTP/1.1\r\nHost: a\r\n${lines.join('')}${more}\r\n`;
}

function rawRequest(body: string, { target, more = '' }: { target?: string; more?: string } = {}): string {
  return `${rawHead(`Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}`, target)}${body}`;
}

/** Sends bytes as they are and waits for the server to close. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(bytes);
  socket.setTimeout(10_000, () => socket.destroy());
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes('"errors"')) socket.end();
  }
  return answer;
}

function nested(open: string, close: string): string {
  return open.repeat(600) + close.repeat(600);
}
