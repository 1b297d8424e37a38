import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { key, type SampleServer, startSampleServer, stored } from './sample-server.ts';

let server: SampleServer;
beforeAll(async () => {
  server = await startSampleServer();
});
afterEach(() => {
  server.answerKeys(async () => stored);
  server.setTime(new Date('2026-05-01T12:00:00Z'));
});
afterAll(() => server.close());

const versionHeaders = ['x-service-schema-version', 'deprecation', 'sunset', 'link'];

interface Answered {
  status: number;
  /** Those of `versionHeaders` that were sent. */
  headers: Record<string, string>;
  error: { message: string; extensions: Record<string, unknown> } | undefined;
}

async function ask(headers: Record<string, string>, query = '{ hello }'): Promise<Answered> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Client-Id': 'client-1',
      'X-Service-API-Key': key.apiKey,
      'X-Service-Organization-Id': 'org-1',
      ...headers,
    },
    body: JSON.stringify({ query }),
  });
  const { errors } = JSON.parse(await response.text());
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => versionHeaders.includes(name))),
    error: errors?.[0],
  };
}

const byHeader = (version: string, query?: string) => ask({ 'X-Service-Schema-Version': version }, query);
const byPin = (version: string, query?: string) => {
  server.answerKeys(async () => ({ ...stored, schemaVersion: version }));
  return ask({}, query);
};

const deprecated = {
  'x-service-schema-version': '2025-01-01',
  deprecation: '@1772323200',
  sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
  link: '<https://docs.example/versions.md#to-notice-that-one-ends>; rel="deprecation", <https://docs.example/versions.md#to-move-to-the-next>; rel="sunset"',
};

describe.each([
  ['in the header', byHeader],
  ['pinned on the client', byPin],
])('a version %s', (_, askFor) => {
  test.each([
    ['preview', '2027-01-01'],
    ['current', '2026-01-01'],
  ])('that is %s serves and says so', async (_status, version) => {
    expect(await askFor(version)).toEqual({ status: 200, headers: { 'x-service-schema-version': version } });
  });

  test('that is deprecated serves, says since when and until when, and where that is explained', async () => {
    expect(await askFor('2025-01-01')).toEqual({ status: 200, headers: deprecated });
  });

  test.each(['{ nope }', '{ hello', `{${'x '.repeat(2000)}}`, 'mutation { a: second b: second }', '{ required }'])(
    'that is deprecated says so beside an error, too: %s',
    async (query) => {
      const answer = await askFor('2025-01-01', query);
      expect(answer.error).toBeDefined();
      expect(answer.headers).toEqual(deprecated);
    },
  );

  test('that is deprecated serves up to its last moment', async () => {
    server.setTime(new Date('2027-02-28T23:59:59.999Z'));
    expect((await askFor('2025-01-01')).status).toBe(200);
    server.setTime(new Date('2027-03-01T00:00:00Z'));
    expect(await askFor('2025-01-01')).toEqual(unsupported(['2026-01-01', '2027-01-01']));
  });

  test.each([
    ['retired', '2024-01-01'],
    ['unknown', '2026-01-02'],
    ['newer than all', '2099-01-01'],
  ])('that is %s is refused with those that are served', async (_status, version) => {
    expect(await askFor(version)).toEqual(unsupported(['2025-01-01', '2026-01-01', '2027-01-01']));
  });
});

test('the header counts, not the pin', async () => {
  server.answerKeys(async () => ({ ...stored, schemaVersion: '2024-01-01' }));
  expect((await ask({ 'X-Service-Schema-Version': '2027-01-01' })).headers).toEqual({
    'x-service-schema-version': '2027-01-01',
  });
});

test.each([
  ['nothing', ''],
  ['two', '2026-01-01, 2025-01-01'],
  ['no date', 'latest'],
])('a header that holds %s is refused, whatever is pinned', async (_, value) => {
  expect((await byHeader(value)).status).toBe(400);
});

test('who is not authenticated learns nothing of versions', async () => {
  const answer = await ask({ 'X-Service-API-Key': '', 'X-Service-Schema-Version': '2025-01-01' });
  expect(answer).toMatchObject({ status: 401, headers: {} });
});

function unsupported(supportedVersions: string[]) {
  return {
    status: 400,
    headers: {},
    error: {
      message: `This schema version is not served. Supported: ${supportedVersions.join(', ')}.`,
      extensions: {
        code: 'UNSUPPORTED_SCHEMA_VERSION',
        requestId: expect.any(String),
        documentationUrl: 'https://docs.example/errors.md#unsupported_schema_version',
        supportedVersions,
      },
    },
  };
}
