import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGraphiql } from './graphiql.ts';

const graphiql = createGraphiql({
  path: '/partners/graphql',
  title: 'Partner interface',
  versions: [
    { version: '2026-11-01', status: 'current' },
    { version: '2027-02-01', status: 'preview' },
  ],
  example: { folder: join(import.meta.dirname, '../../../lender-schema/examples'), name: 'lender.graphql' },
  headers: { 'X-Service-API-Key': 'sample-key' },
  versionHeader: 'X-Service-Schema-Version',
  logger: { warn: () => {} },
});

/** Null: what the interface responds. */
async function respond(fields: { method?: string; url?: string; accept?: string; host?: string }) {
  const { method = 'GET', url = '/partners/graphql', accept = 'text/html,*/*;q=0.8', host = '127.0.0.1:4002' } = fields;
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
  for (const part of ['sample-key', '"version":"2027-02-01","status":"preview"', '"endpoint":"/partners/graphql"'])
    expect(body).toContain(part);
  expect(body).toContain('"named":null');
  expect(headers['Content-Security-Policy']).toBe("frame-ancestors 'none'");
});

test('the page has the example of each version', async () => {
  const { body } = await page();
  expect(body).toContain('"example":"query Team {\\n  lender {\\n    id\\n    name\\n    members {\\n      id');
  expect(body).toContain('"example":"query Team($first: Int, $after: String) {\\n  lender {');
});

test('a browser is redirected from / to the page', async () => {
  expect(await respond({ url: '/' })).toMatchObject({ status: 302, headers: { Location: '/partners/graphql' } });
});

test('the page of a version names it', async () => {
  const { body } = await page({ url: '/partners/graphql?version=2027-02-01' });
  expect(body).toContain('"named":"2027-02-01"');
});

test('a version that is not served is not a part of the page', async () => {
  const { body } = await page({ url: `/partners/graphql?version=${encodeURIComponent('</script><script>x()')}` });
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
  ['another path', { url: '/lenders/graphql' }],
  ['a GET of JSON at /', { url: '/', accept: '*/*' }],
  ['a POST at /', { url: '/', method: 'POST' }],
])('%s gets what the interface responds', async (_, fields) => {
  expect(await respond(fields)).toBeNull();
});

test('a URL that cannot be parsed gets the page of the newest version', async () => {
  const { body } = await page({ url: 'http://[/partners/graphql' });
  expect(body).toContain('"named":null');
});

test.each([
  ['text/html;q=0, application/json', undefined],
  ['application/json, text/html; q=0.0', undefined],
  ['application/json, text/html;q=0.5', 200],
])('a request with `Accept: %s` gets the page with %s', async (accept, expected) => {
  expect((await respond({ accept }))?.status).toBe(expected);
});
