import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGraphiql } from './graphiql.ts';

/** Of each version, a folder with an example. */
const folder = join(import.meta.dirname, '../../test/examples');

const graphiql = createGraphiql({
  path: '/customer/graphql',
  title: 'Customer interface',
  versions: [
    { version: '2026-11-01', status: 'current' },
    { version: '2027-02-01', status: 'preview' },
  ],
  example: { folder, name: 'customer.graphql' },
  headers: { 'X-Service-API-Key': 'sample-key' },
  versionHeader: 'X-Service-Schema-Version',
  logger: { warn: () => {} },
});

/** Null: what the interface responds. */
async function respond(fields: { method?: string; url?: string; accept?: string; host?: string }) {
  const { method = 'GET', url = '/customer/graphql', accept = 'text/html,*/*;q=0.8', host = '127.0.0.1:4002' } = fields;
  return graphiql(Object.assign(new IncomingMessage(new Socket()), { method, url, headers: { accept, host } }));
}

async function page(fields: Parameters<typeof respond>[0] = {}) {
  const response = await respond(fields);
  if (response?.status !== 200) throw new Error('There is no page.');
  return response;
}

test('a browser gets the page with the credentials and the versions', async () => {
  const { headers, body } = await page();
  expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
  for (const part of ['sample-key', '"version":"2027-02-01","status":"preview"', '"endpoint":"/customer/graphql"'])
    expect(body).toContain(part);
  expect(body).toContain('"named":null');
  expect(headers['Content-Security-Policy']).toBe("frame-ancestors 'none'");
});

test('the page has the example of each version', async () => {
  const { body } = await page();
  expect(body).toContain('"example":"query Customer {\\n  customer {\\n    id\\n    name\\n  }');
  expect(body).toContain('"example":"query CustomerSince($since: DateTime) {\\n  customer {');
});

test('a browser is redirected from / to the page', async () => {
  expect(await respond({ url: '/' })).toMatchObject({ status: 302, headers: { Location: '/customer/graphql' } });
});

test('the page of a version names it', async () => {
  const { body } = await page({ url: '/customer/graphql?version=2027-02-01' });
  expect(body).toContain('"named":"2027-02-01"');
});

test('a version that is not served is not a part of the page', async () => {
  const { body } = await page({ url: `/customer/graphql?version=${encodeURIComponent('</script><script>x()')}` });
  expect(body).toContain('"named":null');
  expect(body).not.toContain('<script>x()');
});

test.each(['attacker.example:4002', 'localhost.attacker.example', '192.0.2.1', ''])(
  'the page contains no credentials under the host %j',
  async (host) => {
    const { body } = await page({ host });
    expect(body).not.toContain('sample-key');
  },
);

test.each([
  ['a POST', { method: 'POST' }],
  ['a GET of JSON', { accept: 'application/json' }],
  ['another path', { url: '/supplier/graphql' }],
  ['a GET of JSON at /', { url: '/', accept: '*/*' }],
  ['a POST at /', { url: '/', method: 'POST' }],
])('%s gets what the interface responds', async (_, fields) => {
  expect(await respond(fields)).toBeNull();
});

test('a URL that cannot be parsed gets the page of the newest version', async () => {
  const { body } = await page({ url: 'http://[/customer/graphql' });
  expect(body).toContain('"named":null');
});

test.each([
  ['text/html;q=0, application/json', undefined],
  ['application/json, text/html; q=0.0', undefined],
  ['application/json, text/html;q=0.5', 200],
])('a request with `Accept: %s` gets the page with %s', async (accept, expected) => {
  expect((await respond({ accept }))?.status).toBe(expected);
});
