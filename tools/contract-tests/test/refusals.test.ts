import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { revokeCredential } from '@deedwire/actions';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { type Credential, credentialHeaders } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

const modernMediaType = 'application/graphql-response+json';
const own = { lender: '{ lender { id } }', partner: '{ partner { id } }' };

type InterfaceName = 'lender' | 'partner';
type HeaderChange = Record<string, string | string[] | undefined>;

interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends exactly this, duplicated headers included. */
async function send(
  interfaceName: InterfaceName,
  options: { method?: string; path?: string; headers?: HeaderChange; body?: string | Buffer } = {},
): Promise<RawAnswer> {
  const url = new URL(t.urls[interfaceName]);
  const headers: HeaderChange = {
    'Content-Type': 'application/json',
    ...credentialHeaders(t.accounts[interfaceName].credential),
    ...options.headers,
  };
  const body = options.body ?? JSON.stringify({ query: own[interfaceName] });
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: url.hostname,
        port: url.port,
        path: options.path ?? url.pathname,
        method: options.method ?? 'POST',
        headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function codeOf({ body }: RawAnswer): string {
  return JSON.parse(body).errors[0].extensions.code;
}

/** What differs between two answers to the same request: nothing that tells why. */
function withoutRequestId({ status, headers, body }: RawAnswer): object {
  const { date: _date, 'x-request-id': requestId, ...kept } = headers;
  return { status, headers: kept, body: body.replaceAll(String(requestId), '') };
}

describe.each<InterfaceName>(['lender', 'partner'])('the %s interface', (interfaceName) => {
  const other = interfaceName === 'lender' ? 'partner' : 'lender';
  const otherTenant = interfaceName === 'lender' ? 'otherLender' : 'otherPartner';

  test('answers its own credentials', async () => {
    const answer = await send(interfaceName);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ data: { [interfaceName]: { id: t.accounts[interfaceName].id } } });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
      'x-service-schema-version': '2026-11-01',
    });
  });

  test("refuses the other interface's credentials with 403, without reading any store", async () => {
    const answer = await send(interfaceName, { headers: credentialHeaders(t.accounts[other].credential) });
    expect(answer.status).toBe(403);
    expect(codeOf(answer)).toBe('WRONG_INTERFACE');
    // A key that was never issued, but is well made, gets the same answer.
    const neverIssued = interfaceName === 'lender' ? neverIssuedKeys.partner : neverIssuedKeys.lender;
    expect((await send(interfaceName, { headers: { 'X-Service-API-Key': neverIssued } })).status).toBe(403);
  });

  test('has one and the same 401 for every credential that is not right', async () => {
    const { apiKey, clientId, organizationId } = t.accounts[interfaceName].credential;
    const elsewhere: Credential = t.accounts[otherTenant].credential;
    const changes: [string, HeaderChange][] = [
      [
        'no credentials',
        { 'X-Service-Client-Id': undefined, 'X-Service-API-Key': undefined, 'X-Service-Organization-Id': undefined },
      ],
      ['no client id', { 'X-Service-Client-Id': undefined }],
      ['no key', { 'X-Service-API-Key': undefined }],
      ['no organization', { 'X-Service-Organization-Id': undefined }],
      ['an empty client id', { 'X-Service-Client-Id': '' }],
      ['an empty key', { 'X-Service-API-Key': '' }],
      ['an empty organization', { 'X-Service-Organization-Id': '' }],
      ['a wrong client id', { 'X-Service-Client-Id': `${clientId}x` }],
      ["another client's id", { 'X-Service-Client-Id': elsewhere.clientId }],
      ['another organization', { 'X-Service-Organization-Id': elsewhere.organizationId }],
      [
        'a key with another last character',
        { 'X-Service-API-Key': `${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}` },
      ],
      [
        "the other interface's prefix on this key",
        { 'X-Service-API-Key': apiKey.replace(`dw_${interfaceName}_`, `dw_${other}_`) },
      ],
      ['a well-made key that was never issued', { 'X-Service-API-Key': neverIssuedKeys[interfaceName] }],
      ['a key twice', { 'X-Service-API-Key': [apiKey, apiKey] }],
      ['an organization twice', { 'X-Service-Organization-Id': [organizationId, organizationId] }],
      ['a very long key', { 'X-Service-API-Key': 'x'.repeat(4_000) }],
    ];
    const answers = await Promise.all(
      changes.map(async ([name, headers]) => ({
        name,
        answer: withoutRequestId(await send(interfaceName, { headers })),
      })),
    );
    for (const { name, answer } of answers) expect({ name, answer }).toEqual({ name, answer: answers[0]?.answer });
    expect(answers[0]?.answer).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.any(String) } });
    const last = await send(interfaceName, { headers: { 'X-Service-API-Key': '' } });
    expect(codeOf(last)).toBe('UNAUTHENTICATED');
  });

  test('a revoked key is refused within a second', async () => {
    const { issueCredential } = await import('@deedwire/actions');
    const credential = await issueCredential(t.operator, {
      interfaceName,
      accountId: t.accounts[interfaceName].id,
      clientId: null,
    });
    const headers = credentialHeaders(credential);
    expect((await send(interfaceName, { headers })).status).toBe(200);
    await revokeCredential(t.operator, { keyId: credential.apiKey.split('_')[2] ?? '' });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await send(interfaceName, { headers })).status).toBe(401);
  });

  test.each<[string, Parameters<typeof send>[1], number, string]>([
    ['GET', { method: 'GET', body: '' }, 405, 'METHOD_NOT_ALLOWED'],
    ['PUT', { method: 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
    ['text/plain', { headers: { 'Content-Type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'a form',
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'query={}' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['multipart', { headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['no content type', { headers: { 'Content-Type': undefined } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['an Accept that cannot be met', { headers: { Accept: 'text/html' } }, 406, 'NOT_ACCEPTABLE'],
    ['malformed JSON', { body: '{"query": "{ lender' }, 400, 'BAD_REQUEST'],
    ['an empty body', { body: '' }, 400, 'BAD_REQUEST'],
    ['JSON that is no object', { body: '[]' }, 400, 'BAD_REQUEST'],
    ['a batch', { body: '[{"query":"{ __typename }"}]' }, 400, 'BAD_REQUEST'],
    ['no query', { body: '{"variables":{}}' }, 400, 'BAD_REQUEST'],
    ['a query that is no string', { body: '{"query":1}' }, 400, 'BAD_REQUEST'],
    ['variables that are no object', { body: '{"query":"{ __typename }","variables":"x"}' }, 400, 'BAD_REQUEST'],
    [
      'more than 100 kB',
      { body: JSON.stringify({ query: `{ __typename } #${'x'.repeat(100_000)}` }) },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    [
      'an unknown version',
      { headers: { 'X-Service-Schema-Version': '1999-01-01' } },
      400,
      'UNSUPPORTED_SCHEMA_VERSION',
    ],
  ])('refuses %s', async (_, options, status, code) => {
    for (const accept of [undefined, modernMediaType]) {
      const headers = { Accept: accept, ...options?.headers };
      const answer = await send(interfaceName, { ...options, headers });
      expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    }
  });

  test.each<[string, object, string]>([
    ['a syntax error', { query: '{ lender' }, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', { query: '{ everything }' }, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a variable of the wrong type',
      { query: 'query($id: ID!) { webhookSubscription(id: $id) { id } }', variables: { id: [1] } },
      'BAD_USER_INPUT',
    ],
    [
      'a variable that is missing',
      { query: 'query($id: ID!) { webhookSubscription(id: $id) { id } }' },
      'BAD_USER_INPUT',
    ],
  ])('answers %s with 400, and with 200 to clients of the older media type', async (_, body, code) => {
    const modern = await send(interfaceName, { headers: { Accept: modernMediaType }, body: JSON.stringify(body) });
    expect([modern.status, codeOf(modern), modern.headers['content-type']]).toEqual([
      400,
      code,
      `${modernMediaType}; charset=utf-8`,
    ]);
    for (const accept of [undefined, '*/*', 'application/json']) {
      const older = await send(interfaceName, { headers: { Accept: accept }, body: JSON.stringify(body) });
      expect([older.status, codeOf(older)]).toEqual([200, code]);
      expect(older.headers['content-type']).toMatch(/^application\/json/);
    }
  });

  test('every error names its request and where it is documented', async () => {
    const answer = await send(interfaceName, { body: '{' });
    const [error] = JSON.parse(answer.body).errors;
    expect(error.extensions).toEqual({
      code: 'BAD_REQUEST',
      requestId: answer.headers['x-request-id'],
      documentationUrl: expect.stringMatching(/^https:\/\//),
    });
  });

  test('two mutations in one operation are refused', async () => {
    const query = `mutation { a: deleteWebhookSubscription(input: {id: "x"}) { deletedWebhookSubscriptionId } b: deleteWebhookSubscription(input: {id: "x"}) { deletedWebhookSubscriptionId } }`;
    const answer = await send(interfaceName, { headers: { Accept: modernMediaType }, body: JSON.stringify({ query }) });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).data).toBeUndefined();
  });
});

test('an error is as docs/errors.md shows it', async () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  const answer = await send('lender', { body: JSON.stringify({ query: '{ lender { nickname } }' }) });
  const requestId = answer.headers['x-request-id'];
  const shownId = JSON.parse(shown).errors[0].extensions.requestId;
  expect(shownId).toHaveLength(String(requestId).length);
  expect(JSON.parse(answer.body.replaceAll(String(requestId), shownId))).toEqual(JSON.parse(shown));
});

// Well-made keys, right checksum included, that nobody was given.
const neverIssuedKeys = {
  lender: 'dw_lender_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_2yWAfE',
  partner: 'dw_partner_Ns0YcvMp8BQI_2pwb6trmYfOTciGJ2tIg8twnGMJA5xURC07xEaBrfs8_1THbhT',
};
