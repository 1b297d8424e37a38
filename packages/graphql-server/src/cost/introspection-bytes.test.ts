import { sdl as lenderSdl } from '@deedwire/lender-schema';
import { sdl as partnerSdl } from '@deedwire/partner-schema';
import { buildSchema, getIntrospectionQuery, getOperationAST, type GraphQLSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { compareRandomQueries, measure } from '../../test/support/introspection-bytes.ts';
import { introspectionQueries } from '../../test/support/introspection-queries.ts';
import { richSchema } from '../../test/support/rich-schema.ts';
import { createIntrospectionBytes } from './introspection-bytes.ts';

const schemas: Record<string, GraphQLSchema> = {
  lender: buildSchema(lenderSdl('2026-11-01')),
  partner: buildSchema(partnerSdl('2026-11-01')),
  rich: richSchema,
};

describe.each(Object.entries(schemas))('%s', (_, schema) => {
  test.each(Object.entries(introspectionQueries))('measures the query of %s', (_name, query) => {
    const { bound, real, errors } = measure(schema, query);
    expect(errors).toBeUndefined();
    expect(real).toBeGreaterThan(1000);
    expect(bound).toBeGreaterThanOrEqual(real);
    expect(bound / real).toBeLessThan(1.1);
  });

  test('is never less than the bytes of a random query', () => {
    // `test/long` compares more.
    expect(compareRandomQueries(schema, 150)).toBeGreaterThan(25);
  });
});

test('is exact if nothing is deprecated or skipped', () => {
  const { lender } = schemas;
  if (!lender) throw new Error('unreachable');
  const queries = [
    getIntrospectionQuery(),
    '{a:__schema{__typename types{name}} b:__type(name:"Lender"){kind fields{type{ofType{name}}}}}',
    '{...F ...F __schema{types{name}}} fragment F on Query{__schema{types{description name}}}',
    'query($n:String!){__type(name:$n){name}}',
    'query($n:String!="Nothing"){__type(name:$n){name}}',
  ];
  for (const query of queries) {
    const { bound, real } = measure(lender, query, query.includes('$n:String!)') ? { n: 'Lender' } : {});
    expect(bound).toBe(query.includes('Nothing') ? '"__type":null,'.length : real);
  }
});

test('adds nothing for other fields', () => {
  expect(measure(richSchema, '{user{name friends{name}} self{named{name}} __typename}').bound).toBe(0);
  expect(measure(richSchema, 'mutation{rename(id:1,name:"a"){name}}').bound).toBe(0);
});

test('finds introspection below fields that return the query type', () => {
  const [direct, below] = ['{__schema{types{name}}}', '{self{self{...on Root{__schema{types{name}}}}}}'].map(
    (query) => measure(richSchema, query).bound,
  );
  expect(below).toBe(direct);
});

test('ends early for a document of 1 kB whose response is too large', () => {
  const types =
    '{name description fields{name description type{name description fields{name description type{name}}}}}';
  const query = `{__schema{types{...T possibleTypes{...T} interfaces{...T}}}} fragment T on __Type${types}`;
  const document = parse(
    `{${Array.from({ length: 10 }, (_, i) => `a${i}:__schema{types{...T}} `).join('')}} ${query.slice(query.indexOf('fragment'))}`,
  );
  const operation = getOperationAST(document);
  if (!operation || !schemas.partner) throw new Error('unreachable');
  const bytes = createIntrospectionBytes(schemas.partner);
  const exact = bytes(document, operation, {}, 100_000_000);
  expect(exact).toBeGreaterThan(400_000);
  expect(bytes(document, operation, {}, 400_000)).toBe(Infinity);
  expect(bytes(document, operation, {}, exact)).toBe(exact);
});
