import { sdl as lenderSdl } from '@deedwire/lender-schema';
import { sdl as partnerSdl } from '@deedwire/partner-schema';
import * as fc from 'fast-check';
import {
  buildSchema,
  executeSync,
  getIntrospectionQuery,
  getOperationAST,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { introspectionQueries } from '../../test/support/introspection-queries.ts';
import { writeRandomDocument } from '../../test/support/random-document.ts';
import { richSchema } from '../../test/support/rich-schema.ts';
import { createIntrospectionBytes } from './introspection-bytes.ts';

const schemas: Record<string, GraphQLSchema> = {
  lender: buildSchema(lenderSdl('2026-11-01')),
  partner: buildSchema(partnerSdl('2026-11-01')),
  rich: richSchema,
};

/** Returns the bound, and the real bytes of the introspection fields. */
function measure(schema: GraphQLSchema, query: string, variables: Record<string, unknown> = {}, maxBytes = 10_000_000) {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('The document has no operation.');
  const bound = createIntrospectionBytes(schema)(document, operation, variables, maxBytes);
  const { data, errors } = executeSync({ schema, document, variableValues: variables });
  const introspected = Object.entries(data ?? {}).filter(([, value]) => value !== null && typeof value === 'object');
  // Without the braces, and with a comma after each field.
  const real = introspected.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(Object.fromEntries(introspected))) - 1;
  return { bound, real, errors };
}

describe.each(Object.entries(schemas))('%s', (_, schema) => {
  test.each(Object.entries(introspectionQueries))('measures the query of %s', (_name, query) => {
    const { bound, real, errors } = measure(schema, query);
    expect(errors).toBeUndefined();
    expect(real).toBeGreaterThan(1000);
    expect(bound).toBeGreaterThanOrEqual(real);
    expect(bound / real).toBeLessThan(1.1);
  });

  test('is never less than the bytes of a random query', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.gen(), (gen) => {
        const choose = (below: number) => gen(fc.nat, { max: below - 1 });
        const rootFields = ['__schema', '__type'];
        const query = writeRandomDocument(schema, choose, {
          rootFields,
          depth: 6,
          width: 5,
          fragments: 2,
          hasUniqueAliases: true,
        });
        if (validate(schema, parse(query)).length > 0) return;
        const { bound, real, errors } = measure(schema, query, { v0: true, v1: 'Lender', v2: 'User', v3: false });
        if (errors) return; // a variable of another type
        compared += 1;
        if (bound < real) throw new Error(`The bound ${bound} is less than ${real}: ${query}`);
      }),
      { numRuns: 300, seed: 1, endOnFailure: true },
    );
    expect(compared).toBeGreaterThan(50);
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
