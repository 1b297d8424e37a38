import { forFile } from '@deedwire/testing/for-file';
import { afterEach, describe, expect, test } from 'vitest';
import { jsonHeaders, startSampleServer, stored } from './sample-server.ts';

const server = await forFile(startSampleServer());
afterEach(() => {
  server.findKeysWith(async () => stored);
  server.setTime(new Date('2026-05-01T12:00:00Z'));
});

const versionHeaders = ['x-service-schema-version', 'deprecation', 'sunset', 'link'];

interface Received {
  status: number;
  /** The received headers that are in `versionHeaders`. */
  headers: Record<string, string>;
  error: { message: string; extensions: Record<string, unknown> } | undefined;
}

async function send(headers: Record<string, string>, query = '{ hello }'): Promise<Received> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify({ query }),
  });
  const { errors } = JSON.parse(await response.text());
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => versionHeaders.includes(name))),
    error: errors?.[0],
  };
}

const byHeader = (version: string, query?: string) => send({ 'X-Service-Schema-Version': version }, query);
const byPin = (version: string, query?: string) => {
  server.findKeysWith(async () => ({ ...stored, schemaVersion: version }));
  return send({}, query);
};

const deprecated = {
  'x-service-schema-version': '2025-01-01',
  deprecation: '@1772323200',
  sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
  link: '<https://docs.example/versions.md#detect-a-deprecated-version>; rel="deprecation", <https://docs.example/versions.md#move-to-a-newer-version>; rel="sunset"',
};

describe.each([
  ['in X-Service-Schema-Version', byHeader],
  ['pinned on your API client', byPin],
])('a version %s', (source, sendWith) => {
  test.each([
    ['preview', '2027-01-01'],
    ['current', '2026-01-01'],
  ])('is served and named in the response when it is %s', async (_status, version) => {
    expect(await sendWith(version)).toEqual({ status: 200, headers: { 'x-service-schema-version': version } });
  });

  test('is served with its deprecation date, sunset date and links when it is deprecated', async () => {
    expect(await sendWith('2025-01-01')).toEqual({ status: 200, headers: deprecated });
  });

  test.each(['{ nope }', '{ hello', `{${'x '.repeat(2000)}}`, 'mutation { a: second b: second }', '{ required }'])(
    'has the deprecation headers on errors too: %s',
    async (query) => {
      const response = await sendWith('2025-01-01', query);
      expect(response.error).toBeDefined();
      expect(response.headers).toEqual(deprecated);
    },
  );

  test('is served until its sunset date when it is deprecated', async () => {
    server.setTime(new Date('2027-02-28T23:59:59.999Z'));
    expect((await sendWith('2025-01-01')).status).toBe(200);
    server.setTime(new Date('2027-03-01T00:00:00Z'));
    expect(await sendWith('2025-01-01')).toEqual(unsupported(`"2025-01-01", ${source},`, ['2026-01-01', '2027-01-01']));
  });

  test.each([
    ['retired', '2024-01-01'],
    ['unknown', '2026-01-02'],
    ['newer than every other', '2099-01-01'],
  ])('is rejected with the list of served versions when it is %s', async (_status, version) => {
    expect(await sendWith(version)).toEqual(
      unsupported(`"${version}", ${source},`, ['2025-01-01', '2026-01-01', '2027-01-01']),
    );
  });
});

test('serves the version in the header, not the pinned version', async () => {
  server.findKeysWith(async () => ({ ...stored, schemaVersion: '2024-01-01' }));
  expect((await send({ 'X-Service-Schema-Version': '2027-01-01' })).headers).toEqual({
    'x-service-schema-version': '2027-01-01',
  });
});

test.each([
  ['nothing', ''],
  ['two versions', '2026-01-01, 2025-01-01'],
  ['text that is not a date', 'latest'],
])('rejects a header with %s, whatever version is pinned', async (_, value) => {
  expect((await byHeader(value)).status).toBe(400);
});

test('quotes at most 32 characters of a version in the header', async () => {
  const { error } = await byHeader('9'.repeat(1_000));
  expect(error?.message).toContain(
    `The schema version "${'9'.repeat(32)}", in X-Service-Schema-Version, is not served.`,
  );
});

test('sends no version headers to an unauthenticated client', async () => {
  const response = await send({ 'X-Service-API-Key': '', 'X-Service-Schema-Version': '2025-01-01' });
  expect(response).toMatchObject({ status: 401, headers: {} });
});

function unsupported(versionAndSource: string, supportedVersions: string[]) {
  return {
    status: 400,
    headers: {},
    error: {
      message: `The schema version ${versionAndSource} is not served. Send one of these in X-Service-Schema-Version: ${supportedVersions.join(', ')}.`,
      extensions: {
        code: 'UNSUPPORTED_SCHEMA_VERSION',
        requestId: expect.any(String),
        documentationUrl: 'https://docs.example/errors.md#unsupported_schema_version',
        supportedVersions,
      },
    },
  };
}
