import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentials, type SampleServer, startSampleServer } from './sample-server.ts';

/* What Yoga serves by default, and an interface must not. */

let server: SampleServer;
beforeAll(async () => {
  server = await startSampleServer();
});
afterAll(() => server.close());

interface Sent {
  method?: string;
  target?: string;
  headers?: Record<string, string>;
  body?: string | FormData;
}

const query = '{"query":"{ hello }"}';

async function send({ method = 'POST', target = '', headers, body = query }: Sent) {
  const response = await fetch(new URL(target, server.url), {
    method,
    headers: { ...credentials, ...(typeof body === 'string' && { 'Content-Type': 'application/json' }), ...headers },
    ...(method !== 'GET' && { body }),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function outcome(sent: Sent): Promise<string> {
  const { status, body } = await send(sent);
  return `${status} ${/"code":"(\w+)"/.exec(body)?.[1] ?? body}`;
}

test('no CORS', async () => {
  const { status, headers } = await send({ headers: { Origin: 'https://other.example' } });
  expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([200, null, null]);
  const preflight = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'POST' };
  expect(await outcome({ method: 'OPTIONS', headers: preflight })).toBe('405 METHOD_NOT_ALLOWED');
});

test('no multipart requests', async () => {
  const form = new FormData();
  form.set('operations', query);
  expect(await outcome({ body: form })).toBe('415 UNSUPPORTED_MEDIA_TYPE');
});

test.each(['application/graphql', 'application/graphql+json', 'application/x-www-form-urlencoded'])(
  'no requests of %s',
  async (type) => {
    expect(await outcome({ headers: { 'Content-Type': type } })).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  },
);

test('no batches', async () => {
  expect(await outcome({ body: `[${query}]` })).toBe('400 BAD_REQUEST');
});

test('no landing page and no GraphiQL', async () => {
  const headers = { Accept: 'text/html' };
  expect(await outcome({ method: 'GET', target: '/', headers })).toBe('404 NOT_FOUND');
  expect(await outcome({ method: 'GET', headers })).toBe('405 METHOD_NOT_ALLOWED');
});

test('no health check', async () => {
  expect(await outcome({ target: '/health' })).toBe('404 NOT_FOUND');
  expect(await outcome({ target: '?x=/health', headers: { 'X-Service-API-Key': '' } })).toBe('401 UNAUTHENTICATED');
});

test('no other path that ends like that of the interface', async () => {
  expect(await outcome({ target: '/x/lenders/graphql' })).toBe('404 NOT_FOUND');
});

test('no GET', async () => {
  expect(await outcome({ method: 'GET', target: '?query={hello}' })).toBe('405 METHOD_NOT_ALLOWED');
});

test.each(['multipart/mixed', 'text/event-stream'])('no responses as %s', async (accept) => {
  expect(await outcome({ headers: { Accept: accept } })).toBe('406 NOT_ACCEPTABLE');
  const { headers } = await send({ headers: { Accept: `${accept}, application/json` } });
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
});

test.each(['{ ... @defer { hello } }', '{ hello @stream }'])('no incremental delivery: %s', async (document) => {
  expect(await outcome({ body: JSON.stringify({ query: document }) })).toBe('200 GRAPHQL_VALIDATION_FAILED');
});

test('no messages of errors that are bugs, and no stack', async () => {
  const { body } = await send({ body: '{"query":"{ fail(how: \\"bug\\") }"}' });
  expect(JSON.parse(body)).toMatchObject({
    errors: [{ message: 'An internal error occurred. Include the request id when you report it.' }],
  });
  expect(body).not.toMatch(/Unexpected error|stack|internal_table/);
});
