import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sdl } from '@deedwire/lender-schema';
import { buildSchema, graphql } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listMembers } from './consumer/client.ts';

const schema = buildSchema(sdl('2026-11-01'));
const credentials = { clientId: 'client', apiKey: 'key', organizationId: 'organization' };
let failWith: object | undefined;
let receivedHeaders: IncomingHttpHeaders = {};

const rootValue = {
  lender: {
    name: 'Harbour Lending',
    members: [{ id: 'gid://service/TeamMember/1', firstName: 'Ada', lastName: 'Núñez', email: 'ada@lender.example' }],
  },
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
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lenders/graphql`;
});

afterAll(() => server.close());

test.each(['codegen.ts', 'operations.graphql', 'client.ts', 'main.ts'])('README contains %s as tested here', (file) => {
  const source = readFileSync(join(import.meta.dirname, 'consumer', file), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\n${source}\`\`\`\n`);
});

test('client from the README lists members with the credentials and the pinned version', async () => {
  failWith = undefined;
  expect(await listMembers(endpoint, credentials)).toEqual(['Ada Núñez <ada@lender.example>']);
  expect(receivedHeaders).toMatchObject({
    'x-service-client-id': 'client',
    'x-service-api-key': 'key',
    'x-service-organization-id': 'organization',
    'x-service-schema-version': '2026-11-01',
  });
});

test('command from the README prints the members', async () => {
  failWith = undefined;
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'consumer/main.ts')], {
    env: { DEEDWIRE_URL: endpoint, CLIENT_ID: 'client', API_KEY: 'key', ORGANIZATION_ID: 'organization' },
  });
  expect(stdout).toBe('Ada Núñez <ada@lender.example>\n');
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
  await expect(listMembers(endpoint, credentials)).rejects.toThrow(
    'UNAUTHENTICATED: The credentials are missing or not valid. (request r1)',
  );
});
