import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { issueCredential, revokeCredential } from '@deedwire/actions';
import { generateApiKey } from '@deedwire/auth';
import { type InterfaceName, interfaceNames, testService } from '@deedwire/core/test-service';
import { createHarness, otherKey } from '@deedwire/dev-environment/harness';
import { type Credential, credentialHeaders, eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { startInterfaces } from './support/interface-client.ts';
import { contracts, othersThan } from './support/interface-contracts.ts';

const t = await forFile(createHarness());
const { urls } = await startInterfaces(t);

type HeaderChange = Record<string, string | string[] | undefined>;

interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends a query without changing its headers, so that a test can repeat a header. */
async function send(
  interfaceName: InterfaceName,
  { headers = {}, query = `{ ${interfaceName} { id } }` }: { headers?: HeaderChange; query?: string } = {},
): Promise<RawResponse> {
  const sent: HeaderChange = {
    'Content-Type': 'application/json',
    ...credentialHeaders(t.accounts[interfaceName].credential),
    ...headers,
  };
  const request = httpRequest(urls[interfaceName], {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
  });
  request.end(JSON.stringify({ query }));
  const [response] = await once(request, 'response');
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

function codeOf({ body }: RawResponse): string {
  return JSON.parse(body).errors[0].extensions.code;
}

/** Removes the date and the request id, which differ between two responses to the same request. */
function withoutRequestId({ status, headers, body }: RawResponse): object {
  const { date: _date, 'x-request-id': requestId, ...kept } = headers;
  return { status, headers: kept, body: body.replaceAll(String(requestId), '') };
}

describe.each(interfaceNames)('the %s interface', (interfaceName) => {
  const others = othersThan(interfaceName);

  test('accepts its own credentials', async () => {
    const response = await send(interfaceName);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body)).toEqual({
      data: { [interfaceName]: { id: t.accounts[interfaceName].id } },
      extensions: expect.any(Object),
    });
    expect(response.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
      'x-service-schema-version': contracts[interfaceName].versions[0]?.version,
    });
  });

  test.each(others)('rejects credentials of the %s interface with 403, without looking up the key', async (other) => {
    const response = await send(interfaceName, { headers: credentialHeaders(t.accounts[other].credential) });
    expect(response.status).toBe(403);
    expect(codeOf(response)).toBe('WRONG_INTERFACE');
    // The response is the same for a well-formed key that was never issued, so the key is not looked up.
    expect((await send(interfaceName, { headers: { 'X-Service-API-Key': neverIssuedKeys[other] } })).status).toBe(403);
  });

  test('returns an identical 401 for every invalid credential', async () => {
    const { apiKey, clientId, organizationId } = t.accounts[interfaceName].credential;
    const elsewhere: Credential = t.accounts[otherKey(interfaceName)].credential;
    const changes: [string, HeaderChange][] = [
      [
        'no credentials',
        { 'X-Service-Client-Id': undefined, 'X-Service-API-Key': undefined, 'X-Service-Organization-Id': undefined },
      ],
      ['a missing client id', { 'X-Service-Client-Id': undefined }],
      ['a missing key', { 'X-Service-API-Key': undefined }],
      ['a missing organization', { 'X-Service-Organization-Id': undefined }],
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
      ...others.map((other): [string, HeaderChange] => [
        `the prefix of the ${other} interface on this key`,
        { 'X-Service-API-Key': apiKey.replace(`dw_${interfaceName}_`, `dw_${other}_`) },
      ]),
      ['a well-formed key that was never issued', { 'X-Service-API-Key': neverIssuedKeys[interfaceName] }],
      ['a repeated key header', { 'X-Service-API-Key': [apiKey, apiKey] }],
      ['a repeated organization header', { 'X-Service-Organization-Id': [organizationId, organizationId] }],
      ['a very long key', { 'X-Service-API-Key': 'x'.repeat(4_000) }],
    ];
    const responses = await Promise.all(
      changes.map(async ([name, headers]) => ({
        name,
        response: withoutRequestId(await send(interfaceName, { headers })),
      })),
    );
    for (const { name, response } of responses)
      expect({ name, response }).toEqual({ name, response: responses[0]?.response });
    expect(responses[0]?.response).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.any(String) } });
    const last = await send(interfaceName, { headers: { 'X-Service-API-Key': '' } });
    expect(codeOf(last)).toBe('UNAUTHENTICATED');
  });

  test('rejects a revoked key within a second', async () => {
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
});

// The last test, because its address cannot send requests with invalid credentials for a second afterwards.
test('limits requests without valid credentials per address, but not a client with a valid key', async () => {
  const anonymous = { headers: { 'X-Service-API-Key': undefined } };
  expect((await send('supplier')).status).toBe(200);
  const limited = await eventually(async () => {
    const burst = await Promise.all(Array.from({ length: 200 }, () => send('supplier', anonymous)));
    const found = burst.find(({ status }) => status === 429);
    if (found === undefined) throw new Error('No request was limited.');
    return found;
  });
  expect(codeOf(limited)).toBe('RATE_LIMITED');
  expect(limited.headers['retry-after']).toBe('1');
  expect((await send('supplier')).status).toBe(200);
  await eventually(async () => expect((await send('supplier', anonymous)).status).toBe(401));
});

// Well-formed keys with a correct checksum that were never issued.
const neverIssuedKeys = {
  customer: generateApiKey(testService, 'customer').apiKey,
  supplier: generateApiKey(testService, 'supplier').apiKey,
};
