import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '@deedwire/core';
import { defineVersion } from '@deedwire/graphql-server/own';
import { type DocumentNode, type GraphQLSchema, Kind, parse, print, resolveSchemaCoordinate, visit } from 'graphql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineService } from './define-service.ts';
import { interfaceCode } from './interface-code.ts';

const edition = join(import.meta.dirname, '../common/2026-11-01.graphql');
const serviceOf = (date: string) =>
  defineService({
    names: {
      service: 'shop',
      gidNamespace: 'shop',
      apiKeyPrefix: 'shop',
      headerPrefix: 'X-Shop',
      userAgent: 'Shop-Webhooks',
    },
    interfaces: { customer: { title: 'Customer', account: 'Customer', versions: { [date]: {} } } },
  });
const service = serviceOf('2026-11-01');

/** Has a half of the application too. */
const withOwnHalf = defineService({
  names: service.names,
  interfaces: {
    customer: {
      title: 'Customer',
      account: 'Customer',
      versions: { '2026-11-01': { serve: async () => ({ version: visits }) } },
    },
  },
});
interface Types {
  Objects: { Visit: { id: string } };
  Inputs: object;
  Query: { visit: Types['Objects']['Visit'] };
  Mutation: object;
}
const visits = defineVersion<Types>(({ builder, query }) => {
  const Visit = builder.objectType('Visit', { fields: (t) => ({ id: t.exposeID('id') }) });
  query('visit', (t) => t.field({ type: Visit, resolve: () => ({ id: '1' }) }));
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'interface-code-'));
  mkdirSync(join(folder, 'customer'));
  cpSync(edition, join(folder, 'customer/2026-11-01.graphql'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const serve = async (of: Service = service) => (await interfaceCode(of, 'customer', folder)).contract;

function change(edit: (sdl: string) => string): void {
  const file = join(folder, 'customer/2026-11-01.graphql');
  const before = readFileSync(file, 'utf8');
  const after = edit(before);
  if (after === before) throw new Error('The edit changes nothing.');
  writeFileSync(file, after);
}

test('serves the SDL of its edition', async () => {
  const { problems, versions } = await serve();
  expect(problems).toEqual([]);
  expect(versions.map(({ version }) => version)).toEqual(['2026-11-01']);
});

/** An upgrade of the platform adds such parts to an edition. An application serves them when it takes the new SDL. */
const addedParts = [
  'Query.webhookEgressAddresses',
  'Query.webhookDeliveries(recordId:)',
  'WebhookSubscription.name',
  'CreateWebhookSubscriptionInput.name',
  'WebhookAttemptError.TIMEOUT',
  'Mutation.createWebhookListener',
];

test.each(addedParts)('does not serve %s if its SDL lacks it', async (coordinate) => {
  const has = (schema: GraphQLSchema | undefined) =>
    schema !== undefined && resolveSchemaCoordinate(schema, coordinate) !== undefined;
  expect(has((await serve()).versions[0]?.schema)).toBe(true);
  change((sdl) => print(without(parse(sdl), coordinate)));
  const { problems, versions } = await serve();
  expect(problems).toEqual([]);
  expect(has(versions[0]?.schema)).toBe(false);
});

test.each(addedParts)('beside a half of the application, does not serve %s if the SDL lacks it', async (coordinate) => {
  mkdirSync(join(folder, 'customer/own'));
  writeFileSync(join(folder, 'customer/own/2026-11-01.manifest.json'), '{ "abilities": { "Query.visit": ["READ"] } }');
  change((sdl) => `${sdl.replace('type Query {\n', 'type Query {\n  visit: Visit!\n')}\ntype Visit { id: ID! }\n`);
  const served = async () => {
    const { problems, versions } = await serve(withOwnHalf);
    const coordinates = ['Visit.id', coordinate].filter(
      (each) => versions[0] !== undefined && resolveSchemaCoordinate(versions[0].schema, each) !== undefined,
    );
    return { problems, coordinates };
  };
  expect(await served()).toEqual({ problems: [], coordinates: ['Visit.id', coordinate] });
  change((sdl) => print(without(parse(sdl), coordinate)));
  expect(await served()).toEqual({ problems: [], coordinates: ['Visit.id'] });
});

/** @param coordinate `Type.member` or `Type.field(argument:)` */
function without(document: DocumentNode, coordinate: string): DocumentNode {
  const [, type, member, argument] = /^(\w+)\.(\w+)(?:\((\w+):\))?$/.exec(coordinate) ?? [];
  const removed = argument === undefined ? [type, member] : [type, member, argument];
  const path: string[] = [];
  return visit(document, {
    enter(node) {
      if (!('name' in node) || node.kind === Kind.NAMED_TYPE || node.name === undefined) return undefined;
      path.push(node.name.value);
      if (path.join('.') !== removed.join('.')) return undefined;
      path.pop();
      return null;
    },
    leave(node) {
      if ('name' in node && node.kind !== Kind.NAMED_TYPE && node.name !== undefined) path.pop();
    },
  });
}

test('names what only the SDL has', async () => {
  change((sdl) =>
    sdl.replace('  webhookEgressAddresses: [String!]!\n', '  webhookEgressAddresses: [String!]!\n  orders: [ID!]!\n'),
  );
  expect((await serve()).problems.join()).toContain('orders: [ID!]!');
});

test('names an SDL that is missing, and a date that is none of an edition', async () => {
  rmSync(join(folder, 'customer/2026-11-01.graphql'));
  await expect(interfaceCode(service, 'customer', folder)).rejects.toThrow(
    `The SDL ${join(folder, 'customer/2026-11-01.graphql')} is missing. Write it with \`deedwire init\`.`,
  );
  cpSync(edition, join(folder, 'customer/2020-01-01.graphql'));
  await expect(interfaceCode(serviceOf('2020-01-01'), 'customer', folder)).rejects.toThrow(
    'No edition has the date 2020-01-01. There are 2026-11-01.',
  );
});
