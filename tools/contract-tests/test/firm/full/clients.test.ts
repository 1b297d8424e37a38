import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { devVariables } from '@deedwire/dev-environment';
import { joinSharedSystem } from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { commandsOf, eventually, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { createInterfaceClient } from '../../support/interface-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

const examples = join(workspaceRoot, 'examples/clients');
const page = readFileSync(join(workspaceRoot, 'docs/clients.md'), 'utf8');
const partnerName = 'Keystone Estate Agents';

// A reader has the folder of the repository, and what `pnpm dev` writes there.
const { path: root } = await forFile(temporaryFolder('clients'));
const folder = join(root, 'examples/clients');
await cp(examples, folder, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
const system = await forFile(joinSharedSystem());
const { partner } = system.accounts;
await mkdir(join(root, '.local'));
await writeFile(
  join(root, '.local/dev.env'),
  devVariables(firm, { url: system.urls.partner, ...partner.credential }, partner, 'whsec_unused'),
);

function runCommands(commands: string): Promise<string> {
  return succeed('sh', ['-ec', commands], { cwd: root });
}

// The tests need more than a reader of the page.
const [commands = ''] = commandsOf(page, 'GraphQL clients', 1);
const printed = await runCommands(commands);
await succeed('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], { cwd: folder });

function run(file: string): Promise<string> {
  const command = file.endsWith('.sh') ? 'sh' : 'node';
  return runCommands(`. .local/dev.env\ncd examples/clients\n${command} ${file}`);
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

test('the commands of the page print the name of the sample partner', () => {
  expect(printed).toMatch(new RegExp(`^${partnerName}$`, 'm'));
});

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

const operation = (selected: string): string => `query twoQuery($a: ID!, $b: ID!) {
  a: webhookEvents(subscriptionId: $a) { nodes { ${selected} } }
  b: webhookEvents(subscriptionId: $b) { nodes { ${selected} } }
}`;
const print = 'console.log(JSON.stringify([data.a.nodes[0].deliveryId, data.b.nodes[0].deliveryId]));';

describe('an event of two subscriptions', async () => {
  const { mutate, request } = createInterfaceClient(system, 'partner', '2026-11-01');
  const listen = async (): Promise<string> => {
    const input = { eventTypes: [{ type: 'referral.created' }] };
    const created = await mutate<{ webhookListener: { id: string } | null }>(
      'createWebhookListener',
      'webhookListener { id }',
      input,
    );
    return created.webhookListener?.id ?? missing();
  };
  const variables = { a: await listen(), b: await listen() };
  await mutate('createReferral', 'referral { id }', { clientName: 'Ada Lovelace' });
  const [a, b] = await Promise.all(
    [variables.a, variables.b].map((id) =>
      eventually(async () => {
        const query = 'query ($id: ID!) { webhookEvents(subscriptionId: $id) { nodes { deliveryId } } }';
        const { nodes } = await request<{ nodes: { deliveryId: string }[] }>(query, { id });
        return nodes[0]?.deliveryId ?? missing();
      }),
    ),
  );
  const [policies = ''] = commandsOf(page, 'Events in a normalized cache', 1);
  const none = 'const cache = new InMemoryCache();';
  test.each([
    ['keeps both with eventId', 'eventId deliveryId', none, [a, b]],
    ['keeps one with id', 'id deliveryId', none, [b, b]],
    ['keeps both with id and the policies of the page', 'id deliveryId', policies, [a, b]],
  ])('Apollo Client %s', async (_, selected, cache, expected) => {
    const found = await runText(
      'apollo-two',
      `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
       import { headers, url } from './connection.mjs';
       ${cache}
       const client = new ApolloClient({ link: new HttpLink({ uri: url, headers }), cache });
       const query = gql(${JSON.stringify(operation(selected))});
       const { data } = await client.query({ query, variables: ${JSON.stringify(variables)} });
       ${print}`,
    );
    expect(found).toEqual(expected);
  });

  test.each([
    ['keeps both in the environment of the example', 'eventId deliveryId', 'environment', [a, b]],
    ['keeps one without getDataID, because the compiler adds id', 'eventId deliveryId', 'plain', [b, b]],
    ['keeps one without getDataID with an alias too', 'eventId: id deliveryId', 'plain', [b, b]],
  ])('Relay %s', async (_, selected, environment, expected) => {
    await mkdir(join(folder, 'src'), { recursive: true });
    await mkdir(join(folder, 'artifacts'), { recursive: true });
    await writeFile(
      join(folder, 'src/two.js'),
      `import { graphql } from 'relay-runtime'; graphql\`${operation(selected)}\`;`,
    );
    const schema = join(workspaceRoot, 'packages/partner-schema/versions/2026-11-01.graphql');
    await cp(schema, join(folder, 'schema.graphql'));
    const config = { src: 'src', schema: 'schema.graphql', language: 'javascript', artifactDirectory: 'artifacts' };
    await writeFile(join(folder, 'relay.config.json'), JSON.stringify(config));
    await succeed('npx', ['relay-compiler'], { cwd: folder });
    const found = await runText(
      'relay-two',
      `import relay from 'relay-runtime';
       import { environment } from './relay.mjs';
       import two from './artifacts/twoQuery.graphql.js';
       const plain = new relay.Environment({
         network: environment.getNetwork(),
         store: new relay.Store(new relay.RecordSource()),
       });
       const data = await relay.fetchQuery(${environment}, two, ${JSON.stringify(variables)}).toPromise();
       ${print}`,
    );
    expect(found).toEqual(expected);
  });
});
