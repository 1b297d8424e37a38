import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sdl } from '@deedwire/partner-schema';
import { buildSchema, graphql } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listReferrals } from './consumer/client.ts';

const schema = buildSchema(sdl('2026-11-01'));
const credentials = { clientId: 'client', apiKey: 'key', organizationId: 'organization' };
let failWith: object | undefined;
let receivedHeaders: IncomingHttpHeaders = {};

const referral = { id: 'gid://service/Referral/1', createdAt: '2026-11-03T09:30:00.000Z', matter: null };

const rootValue = {
  referrals: ({ after }: { after: string | null }) => ({
    nodes:
      after === null
        ? [
            { ...referral, clientName: 'Ada', status: 'OPEN' },
            { ...referral, clientName: 'Bo', status: 'CONVERTED', matter: { reference: 'M-2026-000042' } },
          ]
        : [{ ...referral, clientName: 'Cy', status: 'DECLINED' }],
    pageInfo: { endCursor: after === null ? 'c1' : 'c2', hasNextPage: after === null },
  }),
};

/** Executes the SDL against fixed values, or responds with `failWith`. */
const server = createServer((request, response) => {
  receivedHeaders = request.headers;
  const respond = async () => {
    const { query, variables } = JSON.parse(await text(request));
    return failWith ?? (await graphql({ schema, source: query, variableValues: variables, rootValue }));
  };
  void respond().then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)));
});
let endpoint: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address and a port
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/partners/graphql`;
});

afterAll(() => server.close());

test.each(['codegen.ts', 'operations.graphql', 'client.ts', 'main.ts'])('README contains %s as tested here', (file) => {
  const source = readFileSync(join(import.meta.dirname, 'consumer', file), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\n${source}\`\`\`\n`);
});

test('client from the README lists referrals with the credentials and the pinned version', async () => {
  failWith = undefined;
  expect(await listReferrals(endpoint, credentials)).toEqual(['Ada: open', 'Bo: matter M-2026-000042', 'Cy: declined']);
  expect(receivedHeaders).toMatchObject({
    'x-service-client-id': 'client',
    'x-service-api-key': 'key',
    'x-service-organization-id': 'organization',
    'x-service-schema-version': '2026-11-01',
  });
});

test('command from the README prints the referrals', async () => {
  failWith = undefined;
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'consumer/main.ts')], {
    env: { DEEDWIRE_URL: endpoint, CLIENT_ID: 'client', API_KEY: 'key', ORGANIZATION_ID: 'organization' },
  });
  expect(stdout).toBe('Ada: open\nBo: matter M-2026-000042\nCy: declined\n');
  expect(receivedHeaders).toMatchObject({
    'x-service-client-id': 'client',
    'x-service-organization-id': 'organization',
  });
});

test('client from the README throws an error with its code and request id', async () => {
  failWith = {
    errors: [
      {
        message: 'The credentials are missing or not valid.',
        extensions: { code: 'UNAUTHENTICATED', requestId: 'r1' },
      },
    ],
  };
  await expect(listReferrals(endpoint, credentials)).rejects.toThrow(
    'UNAUTHENTICATED: The credentials are missing or not valid. (request r1)',
  );
});
