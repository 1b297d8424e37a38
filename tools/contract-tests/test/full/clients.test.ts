import { readdirSync, readFileSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

const examples = join(workspaceRoot, 'examples/clients');
const page = readFileSync(join(workspaceRoot, 'docs/clients.md'), 'utf8');
const partnerName = 'Keystone Estate Agents';

const { path: folder } = await forFile(temporaryFolder('clients'));
await cp(examples, folder, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
await succeed('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], { cwd: folder });
const system = await forFile(joinSharedSystem());

function run(file: string): Promise<string> {
  const { clientId, apiKey, organizationId } = system.accounts.partner.credential;
  const env = {
    PARTNER_URL: system.urls.partner,
    CLIENT_ID: clientId,
    API_KEY: apiKey,
    ORGANIZATION_ID: organizationId,
  };
  return succeed(file.endsWith('.sh') ? 'sh' : 'node', [file], { cwd: folder, env });
}

/** Runs a program that is not on the page. Returns what it prints. */
async function runText(name: string, text: string): Promise<unknown> {
  await writeFile(join(folder, `${name}.mjs`), text);
  return JSON.parse(await run(`${name}.mjs`));
}

/** For programs: a `fetch` that notes the method and status of each request. */
const countedFetch = `
  const requests = [];
  const counted = async (at, init) => {
    const response = await fetch(at, init);
    requests.push([init.method, response.status]);
    return response;
  };`;

test('the page links each program', () => {
  const files = readdirSync(examples).filter((name) => /\.(?:mjs|sh)$/.test(name));
  expect(files).toHaveLength(7);
  for (const file of files) expect(page).toContain(`](../examples/clients/${file})`);
});

test.each(['fetch', 'graphql-request', 'urql', 'apollo-client'])('%s gets data', async (client) => {
  expect(await run(`${client}.mjs`)).toBe(`${partnerName}\n`);
});

test('curl gets data', async () => {
  expect(JSON.parse(await run('curl.sh'))).toMatchObject({ data: { partner: { name: partnerName } } });
});

test('the network layer of Relay gets data', async () => {
  const found = await runText(
    'relay-query',
    `import { environment } from './relay.mjs';
     const query = { name: 'Q', operationKind: 'query', text: 'query Q { partner { name } }', metadata: {} };
     const { data } = await environment.getNetwork().execute(query, {}, {}).toPromise();
     console.log(JSON.stringify(data));`,
  );
  expect(found).toEqual({ partner: { name: partnerName } });
});

const urqlProgram = (options: string, exchanges: string): string =>
  `import { Client, fetchExchange } from '@urql/core';
   import { persistedExchange } from '@urql/exchange-persisted';
   import { headers, url } from './connection.mjs';
   ${countedFetch}
   const fetchOptions = { headers };
   const client = new Client({ url, fetchOptions, fetch: counted, ${options} exchanges: [${exchanges} fetchExchange] });
   const { data, error } = await client.query('{ partner { name } }', {});
   console.log(JSON.stringify({ requests, data, message: error?.message }));`;

describe('urql', () => {
  test('names its setting if it sends GET', async () => {
    expect(await runText('urql-default', urqlProgram('', ''))).toEqual({
      requests: [['GET', 405]],
      message: expect.stringContaining('In urql, set preferGetMethod'),
    });
  });

  test('sends the document after the hash', async () => {
    const persisted = 'persistedExchange({ preferGetForPersistedQueries: false }),';
    expect(await runText('urql-persisted', urqlProgram('preferGetMethod: false,', persisted))).toEqual({
      requests: [
        ['POST', 400],
        ['POST', 200],
      ],
      data: { partner: { name: partnerName } },
    });
  });
});

test.each([
  ['POST', 'application/graphql-response+json', 400],
  ['GET', 'application/json', 200],
])(
  'the persisted query link of Apollo Client sends the document after a hash with %s and %s',
  async (method, accept, status) => {
    const found = await runText(
      `apollo-${method}-${status}`,
      `import { createHash } from 'node:crypto';
     import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
     import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
     import { headers, url } from './connection.mjs';
     ${countedFetch}
     const hashes = new PersistedQueryLink({
       sha256: (text) => createHash('sha256').update(text).digest('hex'),
       useGETForHashedQueries: ${method === 'GET'},
     });
     const http = new HttpLink({ uri: url, headers: { ...headers, accept: '${accept}' }, fetch: counted });
     const client = new ApolloClient({ link: hashes.concat(http), cache: new InMemoryCache() });
     const { data } = await client.query({ query: gql('{ partner { name } }') });
     const next = await client.query({ query: gql('{ partner { id } }') });
     console.log(JSON.stringify({ requests, name: data.partner.name, isNext: next.data.partner.id !== '' }));`,
    );
    // The link sends no further hash.
    expect(found).toEqual({
      requests: [
        [method, status],
        ['POST', 200],
        ['POST', 200],
      ],
      name: partnerName,
      isNext: true,
    });
  },
);
