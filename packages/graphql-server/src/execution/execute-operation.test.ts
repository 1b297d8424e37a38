import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildSchema, type ExecutionResult, type GraphQLFieldResolver, isObjectType, Kind, parse } from 'graphql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OperationDeadline, withDeadline } from '../operation/deadline.ts';
import { createOperationExecutor } from './execute-operation.ts';

const sdl = /* GraphQL */ `
  type Query {
    items: [Item!]
    group: Group
    matrix: [[Item!]]
  }
  type Group {
    items: [Item!]
  }
  type Item {
    value: String!
  }
`;

/** A rejection without a handler ends a process. */
const unhandled: unknown[] = [];
const note = (reason: unknown): number => unhandled.push(reason);
let others: NodeJS.UnhandledRejectionListener[] = [];
beforeEach(() => {
  unhandled.length = 0;
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
});
afterEach(() => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of others) process.on('unhandledRejection', listener);
});

type Resolvers = Record<string, Record<string, GraphQLFieldResolver<unknown, unknown>>>;

async function run(query: string, resolvers: Resolvers, operationMs: number): Promise<ExecutionResult> {
  const schema = buildSchema(sdl);
  for (const [name, fields] of Object.entries(resolvers)) {
    const type = schema.getType(name);
    if (!isObjectType(type)) throw new Error(name);
    for (const [fieldName, resolve] of Object.entries(fields)) {
      const field = type.getFields()[fieldName];
      if (field) field.resolve = resolve;
    }
  }
  const document = parse(query);
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('There is no operation.');
  const deadline: OperationDeadline = { isLate: false, abort: null };
  const execute = createOperationExecutor(schema);
  const runNow = async () => execute({ document, operation, variables: {}, contextValue: {}, deadline });
  return withDeadline('The operation', operationMs, runNow, { deadline });
}

test('an inner list that rejects is ignored if its outer list comes after the deadline', async () => {
  const gate = Promise.withResolvers<void>();
  const rejected = Promise.reject(new Error('late'));
  rejected.catch(() => {});
  const matrix = async (): Promise<unknown> => {
    await gate.promise;
    return [rejected];
  };
  await expect(run('{ matrix { value } }', { Query: { matrix } }, 20)).rejects.toMatchObject({
    code: 'OPERATION_TIMEOUT',
  });
  gate.resolve();
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(unhandled).toEqual([]);
});

test('the fields of a mutation run one after another, and none begins after the deadline', async () => {
  const calls: string[] = [];
  const schema = buildSchema('type Query { name: String } type Mutation { rename(to: String): String }');
  const rename = schema.getMutationType()?.getFields()['rename'];
  if (!rename) throw new Error('There is no mutation.');
  const gates = new Map<unknown, PromiseWithResolvers<void>>();
  rename.resolve = async (_, { to }: { to?: string }) => {
    calls.push(`begin ${String(to)}`);
    await gates.get(to)?.promise;
    calls.push(`end ${String(to)}`);
    return to;
  };
  const document = parse('mutation { a: rename(to: "a") b: rename(to: "b") }');
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('There is no operation.');
  const execute = createOperationExecutor(schema);
  const runAgain = (operationMs: number) => {
    const deadline: OperationDeadline = { isLate: false, abort: null };
    const runNow = async () => execute({ document, operation, variables: {}, contextValue: {}, deadline });
    return withDeadline('The operation', operationMs, runNow, { deadline });
  };
  // The third run is the first one with a plan.
  for (let number = 0; number < 3; number += 1) {
    calls.length = 0;
    expect(await runAgain(60_000)).toEqual({ data: { a: 'a', b: 'b' } });
    expect(calls).toEqual(['begin a', 'end a', 'begin b', 'end b']);
  }
  const gate = Promise.withResolvers<void>();
  gates.set('a', gate);
  calls.length = 0;
  await expect(runAgain(20)).rejects.toMatchObject({ code: 'OPERATION_TIMEOUT' });
  gate.resolve();
  await nextTurn();
  expect(calls).toEqual(['begin a', 'end a']);
});

test.each([
  [{ requestHeader: 'Bearer 4d9f' }, ' at .requestHeader: Expected value of type "Header" to be an object.'],
  [
    { requestHeader: { name: 'a', value: ['4d9f'] } },
    ' at .requestHeader.value: String cannot represent a non string value.',
  ],
  [
    { requestHeader: { name: 'a', valeu: '4d9f' } },
    ' at .requestHeader: Expected value of type "Header" to include required field "value".',
  ],
  [{ requestHeader: { value: '4d9f' }, url: 1 }, ' at .url: String cannot represent a non string value: 1'],
  [{ webhookSecret: ['whsec_4d9f'] }, ' at .webhookSecret: String cannot represent a non string value.'],
  ['4d9f requestHeader', ': Expected value of type "Input" to be an object.'],
])('an error about the variable %j quotes no secret', async (input, message) => {
  const schema = buildSchema(`
    type Query { a(input: Input): Int }
    input Input { requestHeader: Header, webhookSecret: String, url: String }
    input Header { name: String, value: String! }`);
  const document = parse('query ($input: Input) { a(input: $input) }');
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('There is no operation.');
  const deadline: OperationDeadline = { isLate: false, abort: null };
  const { errors = [] } = await createOperationExecutor(schema)({
    document,
    operation,
    variables: { input },
    contextValue: {},
    deadline,
  });
  const messages = errors.map((error) => error.message);
  expect(messages).toContain(`Variable "$input" has invalid value${message}`);
  expect(messages.join()).not.toContain('4d9f');
});
