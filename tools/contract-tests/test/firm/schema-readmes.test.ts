import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { compileCache, listen, type Listening } from '@deedwire/testing';
import { buildSchema, graphql } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Each schema package has a consumer in `test/consumer/`.

const run = promisify(execFile);
const referral = { id: 'gid://service/Referral/1', createdAt: '2026-11-03T09:30:00.000Z', matter: null };

const packages = [
  {
    name: 'lender',
    sdl: lender.sdl('2026-11-01'),
    path: '/lenders/graphql',
    rootValue: {
      lender: {
        name: 'Harbour Lending',
        members: [
          { id: 'gid://service/TeamMember/1', firstName: 'Ada', lastName: 'Núñez', email: 'ada@lender.example' },
        ],
      },
    },
    printed: 'Ada Núñez <ada@lender.example>\n',
  },
  {
    name: 'partner',
    sdl: partner.sdl('2026-11-01'),
    path: '/partners/graphql',
    rootValue: {
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
    },
    printed: 'Ada: open\nBo: matter M-2026-000042\nCy: declined\n',
  },
];

test.each(['codegen.ts', 'operations.graphql'])('the README of partner-schema contains %s as tested here', (file) => {
  const root = fileURLToPath(new URL('../../../../packages/partner-schema/', import.meta.url));
  const source = readFileSync(join(root, 'test/consumer', file), 'utf8');
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`\n${source}\`\`\`\n`);
});

describe.each(packages)('$name-schema', ({ name, sdl, path, rootValue, printed }) => {
  const root = join(dirname(fileURLToPath(import.meta.resolve(`@deedwire/${name}-schema`))), '..');
  const schema = buildSchema(sdl);
  let failWith: object | undefined;
  let received: { path: string | undefined; headers: IncomingHttpHeaders }[] = [];
  let server: Listening;

  beforeAll(async () => {
    // Executes the SDL against fixed values, or responds with `failWith`.
    const serve = createServer((request, response) => {
      received.push({ path: request.url, headers: request.headers });
      const respond = async () => {
        const { query, variables } = JSON.parse(await text(request));
        return failWith ?? (await graphql({ schema, source: query, variableValues: variables, rootValue }));
      };
      void respond().then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)));
    });
    server = await listen(serve);
  });

  afterAll(() => server.close());

  function runConsumer(): Promise<{ stdout: string }> {
    received = [];
    const url = `http://127.0.0.1:${server.port}${path}`;
    return run(process.execPath, ['--conditions=deedwire-source', join(root, 'test/consumer/main.ts')], {
      env: { ...compileCache, DEEDWIRE_URL: url, CLIENT_ID: 'client', API_KEY: 'key', ORGANIZATION_ID: 'organization' },
    });
  }

  test('command from the README sends the credentials and the pinned version, and prints the result', async () => {
    failWith = undefined;
    expect((await runConsumer()).stdout).toBe(printed);
    expect(received).not.toEqual([]);
    for (const request of received) {
      expect(request).toMatchObject({
        path,
        headers: {
          'x-service-client-id': 'client',
          'x-service-api-key': 'key',
          'x-service-organization-id': 'organization',
          'x-service-schema-version': '2026-11-01',
        },
      });
    }
  });

  test('command from the README fails with the code and the request id of an error', async () => {
    const message = 'The credentials are missing or not valid.';
    failWith = { errors: [{ message, extensions: { code: 'UNAUTHENTICATED', requestId: 'r1' } }] };
    await expect(runConsumer()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: UNAUTHENTICATED: ${message} (request r1)\n`),
    });
  });
});
