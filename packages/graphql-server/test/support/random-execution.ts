import { isDeepStrictEqual } from 'node:util';
import { type Choose, seededRandom, writeRandomDocument } from '@deedwire/testing';
import {
  buildSchema,
  execute,
  type ExecutionResult,
  getNullableType,
  type GraphQLFieldResolver,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isObjectType,
  isAbstractType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql';
import { createOperationExecutor } from '../../src/execution/execute-operation.ts';

const rootFields = /* GraphQL */ `
    node(color: Color = RED, size: Int, point: Point): Node
    required(size: Int! = 3): Node!
    many(first: Int, ids: [ID!], choice: Choice): [Node]
    manyRequired(matrix: [[Int!]]): [Node!]!
    matrix: [[Int!]]
    name: String
    echo(json: Json, float: Float): String
    pet: Pet`;

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
    next: Point
    color: Color = BLUE
    json: Json
  }
  input Choice @oneOf {
    a: Int
    b: String
  }
  type Query {
    ${rootFields}
  }
  type Mutation {
    ${rootFields}
  }
  type Node {
    id: ID!
    name: String
    flag: Boolean!
    color: Color
    time: Time
    numbers: [Int!]
    json(json: Json): Json
    node(size: Int): Node
    required: Node!
    many(point: Point): [Node!]
    lists: [[Node!]!]
  }
  union Pet = Cat | Dog
  type Cat {
    name: String
  }
  type Dog {
    size: Int!
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

interface Context {
  seed: number;
  isAsync: boolean;
  /** The paths and arguments of the resolvers, in the order of the calls. */
  calls: string[];
}

const resolve: GraphQLFieldResolver<unknown, Context> = (_, given, { seed, isAsync, calls }, info) => {
  const place = [...pathOf(info.path), seed].join('.');
  const written = JSON.stringify(given);
  calls.push(`${place} ${written}`);
  // The next run must not see it.
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'object' && value !== null) Object.assign(value, { x: 99 });
    given[name] = 'changed';
  }
  const behavior = behaviors[hash(place) % behaviors.length];
  const value = () => valueOf(info.returnType, `${place} ${written}`, isAsync);
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
    const items = Array.from({ length: hash(place) % 4 }, (_, index) => {
      const item = `${place}/${index}`;
      const kind = hash(item) % 12;
      if (kind === 0) return null;
      if (kind === 1) return new Error(`item ${item}`);
      if (kind === 2 && isAsync) return rejected(`rejected ${item}`);
      const inner = valueOf(type.ofType, item, isAsync);
      return kind === 3 && isAsync ? Promise.resolve(inner) : inner;
    });
    return listOf(items, hash(`${place} list`) % 8);
  }
  if (isAbstractType(type)) return { __typename: hash(place) % 2 === 0 ? 'Cat' : 'Dog' };
  if (isObjectType(type)) return {};
  if (isEnumType(type)) return hash(place) % 5 === 0 ? 'GREEN' : 'BLUE';
  const scalars: Record<string, unknown> = {
    Int: hash(place),
    Boolean: true,
    Time: new Date(0),
    Json: { place },
    ID: place,
    String: place,
  };
  return scalars[type.name];
}

/** Only an array has promises: when an item of another iterable rejects, graphql leaves rejections without a handler. */
function listOf(items: readonly unknown[], kind: number): unknown {
  if (kind === 1) return 'no list';
  return kind === 0 && !items.some((item) => item instanceof Promise) ? new Set(items) : items;
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
 * the same null can come first, and the others are omitted.
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
    if (value !== null && result.data !== undefined) throw new Error(`The error at ${place.join('.')} has a value.`);
    places.set(place.join('.'), [...(places.get(place.join('.')) ?? []), error]);
  }
  return places;
}

/** What the random operations were. They show whether the comparison is of use. */
export interface ComparedExecutions {
  operations: number;
  /** Executions, each compared with one of graphql. */
  executions: number;
  planned: number;
  plannedMutations: number;
  withErrors: number;
  withInvalidVariables: number;
  /** Places that are null because of one error in both executions, and how many of them have the same error. */
  single: number;
  same: number;
}

/** Whether enough of what the comparison is for was among the operations, which are random. */
export const isUseful = ({ planned, plannedMutations, withErrors }: ComparedExecutions): boolean =>
  planned > 15 && plannedMutations > 0 && withErrors > 15;

/** Of each operation. It runs by a plan from the third run on. */
const runs = 4;

/**
 * Runs random operations through the executor and through graphql. Fails at the first difference in data, errors, their order
 * or that of the calls of resolvers. If resolvers return promises, the order is not compared, because promises settle in another
 * one.
 *
 * @param documents how many at least: there are more until the comparison is of use. Each has two operations.
 */
export async function compareRandomExecutions(
  documents: number,
  { isAsync, seed = Math.floor(Math.random() * 2 ** 31) }: { isAsync: boolean; seed?: number },
): Promise<ComparedExecutions> {
  const counts: ComparedExecutions = {
    operations: 0,
    executions: 0,
    planned: 0,
    plannedMutations: 0,
    withErrors: 0,
    withInvalidVariables: 0,
    single: 0,
    same: 0,
  };
  const executeOurs = createOperationExecutor(schema);
  const random = seededRandom(seed);
  const choose: Choose = (below) => Math.floor(random() * below);
  for (let number = 0; number < documents || (number < 10 * documents && !isUseful(counts)); number += 1) {
    const queries = writeRandomDocument(schema, choose, {
      depth: 4,
      width: 4,
      fragments: 3,
      hasUniqueAliases: true,
      operations: 2,
      hasDefaults: true,
    });
    const isMutation = choose(2) === 0;
    const query = isMutation
      ? queries.replaceAll(/\bquery (?=Q\d)/g, 'mutation ').replaceAll(/\bon Query\b/g, 'on Mutation')
      : queries;
    const document = parse(query);
    // Unused variables change nothing about execution.
    if (validate(schema, document).some(({ message }) => !message.includes('is never used'))) continue;
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const seedOfRun = choose(10_000);
    for (const operation of operations) {
      counts.operations += 1;
      const variables = randomVariables(operation, choose);
      const contextOf = (): Context => ({ seed: seedOfRun, isAsync, calls: [] });
      const expectedContext = contextOf();
      const expected = await execute({
        schema,
        document,
        contextValue: expectedContext,
        variableValues: structuredClone(variables),
        operationName: operation.name?.value,
      });
      for (let run = 1; run <= runs; run += 1) {
        const contextValue = contextOf();
        const actual = await executeOurs({
          document,
          operation,
          variables: structuredClone(variables),
          contextValue,
          deadline: { isLate: false, abort: null },
        });
        const difference = isAsync
          ? differenceOfPlaces(actual, expected, counts)
          : differenceOf(actual, expected, contextValue.calls, expectedContext.calls);
        const details = { seed, run, query, operation: operation.name?.value, variables, seedOfRun };
        if (difference !== null) throw new Error(`${difference}\n${JSON.stringify(details, null, 1)}`);
        counts.executions += 1;
        if (actual.errors) counts.withErrors += 1;
        if (actual.data === undefined) counts.withInvalidVariables += 1;
        // graphql's objects have no prototype.
        else if (actual.data !== null && Object.getPrototypeOf(actual.data) !== null) {
          counts.planned += 1;
          if (isMutation) counts.plannedMutations += 1;
        }
      }
    }
  }
  return counts;
}

function differenceOf(
  actual: ExecutionResult,
  expected: ExecutionResult,
  calls: readonly string[],
  expectedCalls: readonly string[],
): string | null {
  const [ours, theirs] = [comparable(actual), comparable(expected)];
  if (!isDeepStrictEqual(ours, theirs))
    return `${JSON.stringify(ours, null, 1)} instead of ${JSON.stringify(theirs, null, 1)}`;
  return isDeepStrictEqual(calls, expectedCalls) ? null : `${calls.join('\n')} instead of ${expectedCalls.join('\n')}`;
}

function differenceOfPlaces(
  actual: ExecutionResult,
  expected: ExecutionResult,
  counts: ComparedExecutions,
): string | null {
  const [ours, theirs] = [comparable(actual).text, comparable(expected).text];
  if (ours !== theirs) return `${ours} instead of ${theirs}`;
  const [places, expectedPlaces] = [nullPlaces(actual), nullPlaces(expected)];
  const [names, expectedNames] = [[...places.keys()].toSorted(), [...expectedPlaces.keys()].toSorted()];
  if (!isDeepStrictEqual(names, expectedNames)) return `errors at ${names.join()} instead of ${expectedNames.join()}`;
  for (const [place, errors] of places) {
    const others = expectedPlaces.get(place) ?? [];
    if (errors.length !== 1 || others.length !== 1) continue;
    counts.single += 1;
    if (isDeepStrictEqual(errors, others)) counts.same += 1;
  }
  return null;
}

/** Values of most variables. Some are wrong. */
function randomVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  choose: Choose,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { variable, type: node, defaultValue } of variableDefinitions) {
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) throw new Error(`The variable ${variable.name.value} has no input type.`);
    const isOptional = !isNonNullType(type) || defaultValue !== undefined;
    if (!isOptional || choose(4) > 0) values[variable.name.value] = randomValue(type, choose);
  }
  return values;
}

const wrongValues = [null, true, 1.5, 'x', [], {}, [[1]]];

function randomValue(type: GraphQLInputType, choose: Choose): unknown {
  if (choose(60) === 0) return wrongValues[choose(wrongValues.length)];
  if (!isNonNullType(type) && choose(8) === 0) return null;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return Array.from({ length: choose(3) }, () => randomValue(nullable.ofType, choose));
  if (isInputObjectType(nullable)) {
    const fields = Object.values(nullable.getFields()).filter(
      (field) => (isNonNullType(field.type) && field.defaultValue === undefined) || choose(3) === 0,
    );
    return Object.fromEntries(fields.map((field) => [field.name, randomValue(field.type, choose)]));
  }
  if (isEnumType(nullable)) return nullable.getValues()[choose(2)]?.name;
  const values: Record<string, unknown> = {
    Int: choose(9) - 1,
    Float: choose(9) / 2,
    Boolean: choose(2) === 0,
    ID: `id ${choose(3)}`,
    String: `text ${choose(3)}`,
  };
  return Object.hasOwn(values, nullable.name) ? values[nullable.name] : { b: [choose(3)] };
}
