import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineVersion, type OwnVersion } from '@deedwire/graphql-server/own';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineService } from './define-service.ts';
import { interfaceCode } from './interface-code.ts';

interface Types {
  Objects: { Visit: { id: string; startsAt: Date } };
  Inputs: object;
  Query: { visits: Types['Objects']['Visit'][] };
  Mutation: object;
}

const edition = readFileSync(join(import.meta.dirname, '../common/2026-11-01.graphql'), 'utf8');
const visit = 'type Visit {\n  id: ID!\n  startsAt: DateTime!\n}\n';
const sdl = `${edition.replace('type Query {\n', 'type Query {\n  visits: [Visit!]!\n')}\n${visit}`;

const version = defineVersion<Types>(({ builder, query }) => {
  const Visit = builder.objectType('Visit', {
    fields: (t) => ({ id: t.exposeID('id'), startsAt: t.expose('startsAt', { type: 'DateTime' }) }),
  });
  query('visits', (t) => t.field({ type: [Visit], resolve: () => [] }));
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-half-'));
  mkdirSync(join(folder, 'customer/own'), { recursive: true });
  write('2027-01-01.graphql', sdl);
  write(
    'own/2027-01-01.manifest.json',
    '{ "abilities": { "Query.visits": ["READ"] }, "costListSizes": { "Query.visits": 50 } }',
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string): void => writeFileSync(join(folder, 'customer', path), text);

async function serve(own: OwnVersion = version, clientActions: string[] = []) {
  const versions = { '2027-01-01': { edition: '2026-11-01', serve: async () => ({ version: own }) } };
  const service = defineService({
    names: {
      service: 'shop',
      gidNamespace: 'shop',
      apiKeyPrefix: 'shop',
      headerPrefix: 'X-Shop',
      userAgent: 'Shop-Webhooks',
    },
    interfaces: { customer: { title: 'Customer', account: 'Customer', versions } },
    auditActions: { 'visit.book': 'lost' },
    clientActions,
  });
  return (await interfaceCode(service, 'customer', folder)).contract;
}

test('serves the half of the application beside the common half, with its descriptions and costs', async () => {
  write('2027-01-01.graphql', sdl.replace('  startsAt', '  """\n  When it starts.\n  """\n  startsAt'));
  const { problems, versions } = await serve();
  expect(problems).toEqual([]);
  const [served] = versions;
  expect(served?.schema.getQueryType()?.getFields()).toMatchObject({ visits: {}, webhookDeliveries: {} });
  expect(served?.schema.getType('Visit')?.toConfig()).toMatchObject({
    fields: { startsAt: { description: 'When it starts.' } },
  });
  expect(served?.costs.listSizes).toMatchObject({ 'Query.visits': 50 });
});

test('names what the SDL has and the module lacks, and the reverse', async () => {
  write('2027-01-01.graphql', sdl.replace('  startsAt', '  endsAt: DateTime!\n  startsAt'));
  expect((await serve()).problems).toEqual([expect.stringContaining('endsAt: DateTime!')]);
  write('2027-01-01.graphql', sdl.replace('  startsAt: DateTime!\n', ''));
  expect((await serve()).problems).toEqual([expect.stringContaining('startsAt: DateTime!')]);
  // A part that every interface has: a later release of the platform can have added it.
  write('2027-01-01.graphql', sdl.replace(/  "{3}\n  The addresses[^]+?  webhookEgressAddresses: .+\n/, ''));
  const { problems, versions } = await serve();
  expect(problems).toEqual([]);
  expect(versions[0]?.schema.getQueryType()?.getFields()).not.toHaveProperty('webhookEgressAddresses');
});

test('names a field without an ability, a list without a size, and a manifest that is none', async () => {
  write('own/2027-01-01.manifest.json', '{}');
  expect((await serve()).problems).toEqual([
    expect.stringContaining('Query.visits returns a list, but its manifest has no "costListSizes" for it'),
    expect.stringContaining('Query.visits has no ability'),
  ]);
  write('own/2027-01-01.manifest.json', '{ "limits": {} }');
  await expect(serve()).rejects.toThrow('2027-01-01.manifest.json is no manifest');
});

test('names an SDL that `deedwire generate` has not written', async () => {
  rmSync(join(folder, 'customer/2027-01-01.graphql'));
  await expect(serve()).rejects.toThrow('2027-01-01.graphql is missing. Write it with `deedwire generate`.');
});

test('serves a change with its types, and names its action if the service lacks it', async () => {
  interface WithChange extends Types {
    Inputs: { BookVisitInput: { startsAt: Date } };
    Mutation: {
      bookVisit: { visit: Types['Objects']['Visit'] | null; userErrors: { code: 'STARTS_AT_INVALID' }[] };
    };
  }
  const withChange = defineVersion<WithChange>(({ builder, query, change }) => {
    const Visit = builder.objectType('Visit', {
      fields: (t) => ({ id: t.exposeID('id'), startsAt: t.expose('startsAt', { type: 'DateTime' }) }),
    });
    query('visits', (t) => t.field({ type: [Visit], resolve: () => [] }));
    change('bookVisit', {
      action: 'visit.book',
      codes: ['STARTS_AT_INVALID'],
      input: (t) => ({ startsAt: t.field({ type: 'DateTime', required: true }) }),
      payload: (t) => ({ visit: t.expose('visit', { type: Visit, nullable: true }) }),
      run: async ({ startsAt }) => ({ visit: { id: '1', startsAt } }),
    });
  });
  const types = `
    input BookVisitInput { startsAt: DateTime! }
    type BookVisitPayload { visit: Visit userErrors: [BookVisitUserError!]! }
    type BookVisitUserError implements UserError { code: BookVisitUserErrorCode! message: String! field: [String!] }
    enum BookVisitUserErrorCode { STARTS_AT_INVALID }`;
  const mutation = '  bookVisit(input: BookVisitInput!): BookVisitPayload!\n';
  write('2027-01-01.graphql', `${sdl.replace('type Mutation {\n', `type Mutation {\n${mutation}`)}${types}`);
  write(
    'own/2027-01-01.manifest.json',
    JSON.stringify({
      abilities: { 'Query.visits': ['READ'], 'Mutation.bookVisit': ['WRITE'] },
      costListSizes: { 'Query.visits': 50, 'BookVisitPayload.userErrors': 30 },
    }),
  );
  expect((await serve(withChange, ['visit.book'])).problems).toEqual([]);
  expect((await serve(withChange)).problems).toEqual([
    'schema version 2027-01-01 records the action visit.book, which `clientActions` of the service lacks',
  ]);
});

const node = ({ id }: { id: string }) => ({ id, startsAt: new Date() });

test('serves a list of pages, with its types and arguments', async () => {
  interface WithList extends Omit<Types, 'Query'> {
    Query: { visits: { nodes: Types['Objects']['Visit'][] }; past: { nodes: Types['Objects']['Visit'][] } };
  }
  const withList = defineVersion<WithList>(({ builder, connection }) => {
    const type = builder.objectType('Visit', {
      fields: (t) => ({ id: t.exposeID('id'), startsAt: t.expose('startsAt', { type: 'DateTime' }) }),
    });
    connection('visits', { type, rows: async () => [], node });
    connection('past', { type, args: (t) => ({ room: t.string() }), rows: async () => [], node });
  });
  const types = `
    type VisitConnection { edges: [VisitEdge!]! nodes: [Visit!]! pageInfo: PageInfo! }
    type VisitEdge { cursor: String! node: Visit! }`;
  const [first, page] = ['first: Int = 20', 'after: String'];
  write(
    '2027-01-01.graphql',
    `${sdl.replace('visits: [Visit!]!', `visits(${first}, ${page}): VisitConnection!\n  past(${first}, ${page}, room: String): VisitConnection!`)}${types}`,
  );
  write('own/2027-01-01.manifest.json', '{ "abilities": { "Query.visits": ["READ"], "Query.past": ["READ"] } }');
  expect((await serve(withList)).problems).toEqual([]);
});
