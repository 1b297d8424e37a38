import * as fc from 'fast-check';
import { executeSync, getOperationAST, type GraphQLSchema, parse, validate } from 'graphql';
import { createIntrospectionBytes } from '../../src/cost/introspection-bytes.ts';
import { writeRandomDocument } from './random-document.ts';

/** Returns the bound, and the real bytes of the introspection fields. */
export function measure(
  schema: GraphQLSchema,
  query: string,
  variables: Record<string, unknown> = {},
  maxBytes = 10_000_000,
) {
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

/** Fails if the bound is less than the bytes of a random query. Returns the number of queries that could be compared. */
export function compareRandomQueries(schema: GraphQLSchema, numRuns: number): number {
  let compared = 0;
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const choose = (below: number) => gen(fc.nat, { max: below - 1 });
      const query = writeRandomDocument(schema, choose, {
        rootFields: ['__schema', '__type'],
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
    { numRuns, seed: 1, endOnFailure: true },
  );
  return compared;
}
