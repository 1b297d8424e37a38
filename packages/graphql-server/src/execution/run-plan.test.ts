import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  execute,
  type ExecutionResult,
  getVariableValues,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { collectedOperation, conditionVariables } from './collect-fields.ts';
import { planOperation } from './operation-plan.ts';
import { runPlan } from './run-plan.ts';

const sdl = /* GraphQL */ `
  scalar Time
  scalar Json
  enum Color {
    RED
    BLUE
  }
  input Point {
    x: Int! = 1
    y: [Int]
  }
  type Query {
    node(color: Color = RED, size: Int, point: Point): Node
    required(size: Int! = 3): Node!
    many(first: Int): [Node]
    manyRequired: [Node!]!
    matrix: [[Int!]]
    name: String
    echo(json: Json): String
  }
  type Node {
    id: ID!
    name: String
    flag: Boolean!
    color: Color
    time: Time
    numbers: [Int!]
    node(size: Int): Node
    required: Node!
    many: [Node!]
  }
`;

/** The behavior of a resolver at a place of the response. */
const behaviors = [
  'value',
  'value',
  'value',
  'value',
  'promise',
  'promise',
  'null',
  'throw',
  'reject',
  'error',
  'wrong',
] as const;

/** Resolvers that behave by the path of the field and by a seed in the context, so that both executions meet the same. */
function withResolvers(built: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(built.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) field.resolve = resolve;
  }
  // Resolvers receive a string, as from a scalar that parses a compact notation.
  const json = built.getType('Json');
  if (isScalarType(json)) json.coerceInputValue = (value: unknown) => JSON.stringify(value);
  return built;
}

const resolve: GraphQLFieldResolver<unknown, { seed: number; isAsync: boolean }> = (
  _,
  given,
  { seed, isAsync },
  info,
) => {
  const place = [...pathOf(info.path), seed].join('.');
  const behavior = behaviors[hash(place) % behaviors.length];
  const value = () => valueOf(info.returnType, `${place} ${JSON.stringify(given)}`, isAsync);
  switch (behavior) {
    case 'promise':
      return isAsync ? Promise.resolve().then(value) : value();
    case 'null':
      return null;
    case 'throw':
      throw new Error(`thrown at ${place}`);
    case 'reject':
      return isAsync ? Promise.reject(new Error(`rejected at ${place}`)) : value();
    case 'error':
      return new Error(`returned at ${place}`);
    case 'wrong':
      return { of: 'another type' };
    case 'value':
    case undefined:
      return value();
  }
};

function pathOf(path: { key: string | number; prev: unknown } | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place = path; place; place = place.prev as typeof path) keys.unshift(place.key);
  return keys;
}

function valueOf(type: GraphQLOutputType, place: string, isAsync: boolean): unknown {
  if (isNonNullType(type)) return valueOf(type.ofType, place, isAsync);
  if (isListType(type)) {
    return Array.from({ length: hash(place) % 4 }, (_, index) => {
      const item = `${place}/${index}`;
      const kind = hash(item) % 12;
      if (kind === 0) return null;
      if (kind === 1) return new Error(`item ${item}`);
      if (kind === 2 && isAsync) return rejected(`rejected ${item}`);
      const inner = valueOf(type.ofType, item, isAsync);
      return kind === 3 && isAsync ? Promise.resolve(inner) : inner;
    });
  }
  if (isObjectType(type)) return {};
  if (isEnumType(type)) return hash(place) % 5 === 0 ? 'GREEN' : 'BLUE';
  const scalars: Record<string, unknown> = {
    Int: hash(place),
    Boolean: true,
    Time: new Date(0),
    ID: place,
    String: place,
  };
  return scalars[type.name];
}

/** Handled, because graphql ignores the items of a list that it no longer wants. */
function rejected(message: string): Promise<never> {
  const promise = Promise.reject(new Error(message));
  promise.catch(() => {});
  return promise;
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value >>> 0) % 100_003;
}

const schema = withResolvers(buildSchema(sdl));

const directives = fc.constantFrom(
  '',
  '',
  '',
  '',
  ' @skip(if: $a)',
  ' @include(if: $b)',
  ' @include(if: false)',
  ' @skip(if: false)',
);
// Each field and each set of arguments has its own response names, so that fields merge but do not conflict.
const aliases = fc.constantFrom('', '', 'x_', 'y_');

// In a selection, `^` is the place of an alias and `%` that of a directive.
const { ofQuery, ofNode } = fc.letrec<{ ofQuery: string; ofNode: string }>((tie) => ({
  ofNode: selections(
    fc.oneof(
      { maxDepth: 3, depthIdentifier: 'nodes' },
      fc.constantFrom('^id%', '^name%', '^flag%', '^color%', '^time%', '^numbers%', '^__typename%'),
      fc.constantFrom('...OfNode%', '...% { name flag }'),
      ...['^node%', 'sized: node(size: $size)%', '^required%', '^many%', '... on Node%'].map((head) =>
        tie('ofNode').map((inner) => `${head} ${inner}`),
      ),
    ),
  ),
  ofQuery: selections(
    fc.oneof(
      fc.constantFrom('^name%', '^matrix%', '^__typename%', '...OfQuery%'),
      fc.constantFrom('echoed: echo(json: { a: [$size], b: { c: $json } })%', 'constant: echo(json: { a: [1] })%'),
      ...[
        '^node%',
        'blue: node(color: BLUE, size: 2, point: { y: [1] })%',
        'pointed: node(size: $size, point: $point)%',
        'sized: required(size: $size)%',
        '^required%',
        'first: many(first: 3)%',
        '^manyRequired%',
      ].map((head) => tie('ofNode').map((inner) => `${head} ${inner}`)),
    ),
  ),
}));

function selections(selection: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const one = fc
    .tuple(aliases, selection, directives)
    .map(([alias, text, directive]) =>
      text
        .replace(/^\^(\w+)/, (_, field: string) => (alias === '' ? field : `${alias}${field}: ${field}`))
        .replace('%', directive),
    );
  return fc.array(one, { minLength: 1, maxLength: 4 }).map((all) => `{ ${all.join(' ')} }`);
}

/** A fragment must not spread itself. */
const without = (fragment: string, body: string) =>
  body.replaceAll(new RegExp(String.raw`\.\.\.${fragment}( @\w+\([^)]*\))?`, 'g'), '__typename');

const documents = fc.record({ ofQuery, spreadOfQuery: ofQuery, spreadOfNode: ofNode }).map(
  (parts) =>
    `query Q($a: Boolean! = true, $b: Boolean!, $size: Int! = 5, $point: Point, $json: Json) ${parts.ofQuery}
      query Other($c: Boolean!) { name @include(if: $c) ...OfOther }
      fragment OfOther on Query { other: name @skip(if: $c) }
      fragment OfQuery on Query ${without('OfQuery', parts.spreadOfQuery)}
      fragment OfNode on Node ${without('OfNode', parts.spreadOfNode)}`,
);

const variables = fc.record(
  {
    a: fc.boolean(),
    b: fc.boolean(),
    size: fc.integer({ min: 0, max: 9 }),
    point: fc.constantFrom(null, {}, { x: 2, y: [null] }),
    json: fc.constantFrom(null, 'text', { d: [2] }),
  },
  { requiredKeys: ['b'] },
);

const given = fc.record({ query: documents, variables, seed: fc.nat(10_000) });

/** Null unless the document is valid. Random fragments can spread themselves, and random fields conflict. */
function parseValid(query: string): { document: DocumentNode; operation: OperationDefinitionNode } | null {
  const document = parse(query);
  // Unused fragments and variables change nothing about execution.
  const problems = validate(schema, document).filter(({ message }) => !message.includes('is never used'));
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  return problems.length === 0 && operation ? { document, operation } : null;
}

const withoutValue = (message = '') =>
  message.replace(/^Expected `.*coerceOutputValue.*$|^\w+ has no output value.*$/, '');

/** Without what only developers see: the message about a value that a scalar does not accept. */
function comparable({ data, errors = [] }: ExecutionResult) {
  const plain = errors.map((error) => ({
    ...error.toJSON(),
    message: withoutValue(error.message),
    nodes: error.nodes,
    cause: withoutValue(error.originalError?.message),
  }));
  return { text: JSON.stringify(data), errors: plain };
}

/**
 * Where the response is null because of errors, with these errors. When promises settle in another order, other errors below
 * the same null can come first, and further ones are omitted.
 */
function nullPlaces(result: ExecutionResult): Map<string, unknown[]> {
  const { errors } = comparable(result);
  const places = new Map<string, unknown[]>();
  for (const error of errors) {
    let value: unknown = result.data;
    const place: (string | number)[] = [];
    for (const key of error.path ?? []) {
      if (value === null || typeof value !== 'object') break;
      place.push(key);
      value = new Map<string | number, unknown>(Object.entries(value)).get(String(key));
    }
    expect(value).toBeNull();
    places.set(place.join('.'), [...(places.get(place.join('.')) ?? []), error]);
  }
  return places;
}

interface Case {
  query: string;
  variables: Record<string, unknown>;
  seed: number;
}

/** Null for an invalid document. */
async function executeTwice({ query, variables: variableValues, seed }: Case, isAsync: boolean) {
  const valid = parseValid(query);
  if (!valid) return null;
  const { document, operation } = valid;
  const contextValue = { seed, isAsync };
  const operationName = operation.name?.value ?? null;
  const expected = await execute({ schema, document, contextValue, variableValues, operationName });
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues).variableValues;
  if (!coerced) throw new Error('The variables are invalid.');
  const conditions = new Map(
    conditionVariables(document, operation).map((name) => {
      const value = coerced.coerced[name];
      if (typeof value !== 'boolean') throw new Error(`The condition ${name} has no value.`);
      return [name, value];
    }),
  );
  const collected = collectedOperation(schema, document, operation, conditions);
  if (!collected) throw new Error('The operation has no root type.');
  const actual = await runPlan(planOperation(collected, 100_000), coerced, contextValue).result;
  return { expected, actual };
}

// They show whether the random documents are of use.
const counts = { compared: 0, withErrors: 0, single: 0, same: 0 };
const numRuns = 300;

test('gives the same data and the same errors in the same order as graphql', async () => {
  await fc.assert(
    fc.asyncProperty(given, async (random) => {
      const results = await executeTwice(random, false);
      if (!results) return;
      counts.compared += 1;
      if (results.actual.errors) counts.withErrors += 1;
      expect(comparable(results.actual)).toStrictEqual(comparable(results.expected));
    }),
    { numRuns },
  );
  expect(counts.compared).toBeGreaterThan(200);
  expect(counts.withErrors).toBeGreaterThan(100);
});

test('gives the same data and the same errors when resolvers return promises', async () => {
  await fc.assert(
    fc.asyncProperty(given, async (random) => {
      const results = await executeTwice(random, true);
      if (!results) return;
      expect(comparable(results.actual).text).toBe(comparable(results.expected).text);
      const [actual, expected] = [nullPlaces(results.actual), nullPlaces(results.expected)];
      expect([...actual.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
      for (const [place, errors] of actual) {
        const others = expected.get(place) ?? [];
        if (errors.length === 1 && others.length === 1) counts.same += isDeepStrictEqual(errors, others) ? 1 : 0;
        if (errors.length === 1 && others.length === 1) counts.single += 1;
      }
    }),
    { numRuns },
  );
  expect(counts.same / counts.single).toBeGreaterThan(0.9);
});
