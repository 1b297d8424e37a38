import { inspect } from 'node:util';
import { useMaskedErrors } from '@envelop/core';
import { useOpenTelemetry } from '@envelop/opentelemetry';
import { useResponseCache } from '@envelop/response-cache';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { afterEach, describe, expect, test } from 'vitest';
import { createCostBuckets } from '../src/cost/cost-buckets.ts';
import {
  credentials,
  jsonHeaders,
  type SampleServer,
  type SampleServerOptions,
  startSampleServer,
  stored as storedKey,
} from './sample-server.ts';

// Hooks can demand what a plugin adds to the context.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyPlugin = Plugin<any>;

let server: SampleServer | undefined;
afterEach(() => server?.close());

async function start(
  plugins: readonly AnyPlugin[] | (() => readonly AnyPlugin[]),
  options: SampleServerOptions = {},
): Promise<void> {
  server = await startSampleServer({ ...options, plugins: typeof plugins === 'function' ? plugins : () => plugins });
}

interface Answer {
  status: number;
  headers: Headers;
  data?: unknown;
  errors?: { message: string; extensions: Record<string, unknown> }[];
  extensions?: { cost?: { requestedQueryCost: number; actualQueryCost: number }; [name: string]: unknown };
}

async function send(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${server?.url}?from=test`, {
    method: 'POST',
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, ...(JSON.parse(await response.text()) as object) };
}

/** For example `400 BAD_REQUEST`. */
async function refusal(body: object, headers: Record<string, string> = {}): Promise<string> {
  const { status, errors: [error] = [] } = await send(body, headers);
  return `${status} ${String(error?.extensions['code'])}`;
}

const newer = { Accept: 'application/graphql-response+json' };
/** With the plan from the third run on. */
const runs = [1, 2, 3, 4, 5];

test('OpenTelemetry sees every operation and resolver, including those that run by a plan', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  await start([useOpenTelemetry({ resolvers: true, variables: true, traceIdInResult: 'traceId' }, provider)]);
  const query = 'query Greet($name: String!) { hello(name: $name) }';
  for (const run of runs) {
    const { data, extensions } = await send({ query, variables: { name: String(run) } });
    expect(data).toEqual({ hello: `hello ${run}` });
    expect(extensions).toMatchObject({ traceId: expect.stringMatching(/^\w{32}$/), cost: { actualQueryCost: 1 } });
  }
  const spans = exporter.getFinishedSpans();
  const ofOperations = spans.filter(({ name }) => name === 'query.Greet');
  expect(ofOperations.map(({ attributes }) => attributes['graphql.execute.variables'])).toEqual(
    runs.map((run) => `{"name":"${run}"}`),
  );
  expect(ofOperations[4]?.attributes['graphql.execute.document']).toBe(query);
  const ofResolvers = spans.filter(({ name }) => name === 'Query.hello');
  const traces = ofOperations.map((span) => span.spanContext().traceId);
  expect(ofResolvers.map((span) => span.spanContext().traceId)).toEqual(traces);
});

function persisted(id: string, variables?: object): object {
  return { variables, extensions: { persistedQuery: { version: 1, sha256Hash: id } } };
}

describe('persisted operations', () => {
  const stored: Record<string, string | DocumentNode> = {
    text: 'query Text($name: String) { hello(name: $name) }',
    document: parse('{ hello(name: "document") }'),
    invalid: parse('{ nope }'),
    deep: parse(`${'{ again '.repeat(11)}{ hello }${'}'.repeat(11)}`),
  };
  const options = { getPersistedOperation: async (id: string) => stored[id] ?? null };

  test('run without a query', async () => {
    await start([usePersistedOperations(options)]);
    for (const run of runs) {
      expect(await send(persisted('text', { name: `${run}` }))).toMatchObject({ data: { hello: `hello ${run}` } });
      const { data, extensions } = await send(persisted('document'));
      expect(data).toEqual({ hello: 'hello document' });
      expect(extensions?.cost).toMatchObject({ requestedQueryCost: 1, actualQueryCost: 1 });
    }
  });

  test('refuse others with the code of the plugin', async () => {
    await start([usePersistedOperations(options)]);
    expect(await refusal(persisted('unknown'))).toBe('200 PERSISTED_QUERY_NOT_IN_LIST');
    expect(await refusal(persisted('unknown'), newer)).toBe('400 PERSISTED_QUERY_NOT_IN_LIST');
    expect(await refusal({})).toBe('200 PERSISTED_QUERY_ID_REQUIRED');
    const { errors } = await send({ query: '{ hello }' });
    expect(errors).toEqual([
      {
        message: 'PersistedQueryOnly',
        extensions: { code: 'CANNOT_SEND_PQ_ID_AND_BODY', requestId: expect.any(String) },
      },
    ]);
  });

  test('are not supported if no plugin answers', async () => {
    const { plugin, calls } = createRecorder();
    await start([plugin]);
    expect(await refusal(persisted('text'))).toBe('200 PERSISTED_QUERY_NOT_SUPPORTED');
    expect(await refusal(persisted('text'), newer)).toBe('400 PERSISTED_QUERY_NOT_SUPPORTED');
    expect(calls).toEqual(['params', 'params']);
  });

  test('are validated and limited, even if the plugin skips validation', async () => {
    await start([usePersistedOperations({ ...options, skipDocumentValidation: true })]);
    for (const _ of runs) {
      expect(await refusal(persisted('invalid'))).toBe('200 GRAPHQL_VALIDATION_FAILED');
      expect(await refusal(persisted('deep'))).toBe('200 OPERATION_TOO_COMPLEX');
    }
  });

  test('are not found under the text that the plugin makes up', async () => {
    await start([usePersistedOperations({ ...options, allowArbitraryOperations: true })]);
    expect(await send(persisted('document'))).toMatchObject({ status: 200, data: { hello: 'hello document' } });
    expect(await refusal({ query: '__PERSISTED_OPERATION_document__' })).toBe('200 GRAPHQL_PARSE_FAILED');
    expect(await send(persisted('document'))).toMatchObject({ status: 200, data: { hello: 'hello document' } });
  });
});

test('a response cache runs an operation once for each client, and each time the client pays for it', async () => {
  let executions = 0;
  const count: AnyPlugin = {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) => {
        executions += 1;
        return executeFn(args);
      });
    },
  };
  await start(() => [count, useResponseCache({ session: ({ clientId }) => String(clientId), ttl: 60_000 })]);
  for (const _ of [1, 2, 3]) {
    const { data, extensions } = await send({ query: '{ again { hello again { hello } } }' });
    expect(data).toEqual({ again: { hello: 'hello world', again: { hello: 'hello world' } } });
    expect(extensions).toEqual({ cost: expect.objectContaining({ requestedQueryCost: 3, actualQueryCost: 3 }) });
  }
  expect(executions).toBe(1);
  await send({ query: '{ again { hello again { hello } } }' }, { 'X-Service-Schema-Version': '2025-01-01' });
  expect(executions).toBe(2);
});

/** Records the hooks that are called, and whether all get the same context. */
function createRecorder() {
  const calls: string[] = [];
  const contexts = new Set<object>();
  const documents = new Set<unknown>();
  const note = (name: string, context: object): void => {
    calls.push(name);
    contexts.add(context);
  };
  const plugin: AnyPlugin = {
    onParams: ({ context }) => note('params', context),
    onParse({ context }) {
      note('parse', context);
      return ({ result }) => void documents.add(result);
    },
    onValidate({ context }) {
      note('validate', context);
      return ({ valid }) => void calls.push(valid ? 'valid' : 'invalid');
    },
    onContextBuilding: ({ context }) => note('context', context),
    onExecute({ args }) {
      note('execute', args.contextValue);
      return { onExecuteDone: () => note('done', args.contextValue) };
    },
  };
  return { plugin, calls, contexts, documents };
}

test('every hook sees every operation with one context, even when the document is cached and has a plan', async () => {
  const { plugin, calls, contexts, documents } = createRecorder();
  await start([plugin]);
  for (const _ of runs) {
    calls.length = 0;
    await send({ query: '{ hello }' });
    expect(calls).toEqual(['params', 'parse', 'validate', 'valid', 'context', 'execute', 'done']);
  }
  expect(contexts.size).toBe(5);
  // The cached one.
  expect(documents.size).toBe(1);
});

test('a document that was rejected before fails in parseFn, so onValidate does not see it', async () => {
  const { plugin, calls } = createRecorder();
  await start([plugin]);
  expect(await refusal({ query: '{ nope }' })).toBe('200 GRAPHQL_VALIDATION_FAILED');
  expect(calls).toEqual(['params', 'parse', 'validate', 'invalid']);
  calls.length = 0;
  expect(await refusal({ query: '{ nope }' })).toBe('200 GRAPHQL_VALIDATION_FAILED');
  expect(calls).toEqual(['params', 'parse']);
});

test('a plugin sees the schema of one version, once', async () => {
  const seen: number[] = [];
  await start(() => {
    const index = seen.push(0) - 1;
    return [{ onSchemaChange: () => void (seen[index] = (seen[index] ?? 0) + 1) }];
  });
  for (const _ of runs)
    for (const version of ['2025-01-01', '2026-01-01'])
      await send({ query: '{ hello }' }, { 'X-Service-Schema-Version': version });
  expect(seen).toEqual([1, 1, 1]);
});

test('the log of a plugin that prints the request and the context has no API key', async () => {
  const printed: string[] = [];
  const show = (value: unknown): unknown => printed.push(inspect(value, { depth: 7 }));
  await start([
    { onRequest: ({ request }) => void show(request), onExecute: ({ args }) => void show(args.contextValue) },
  ]);
  await send({ query: '{ hello }' });
  expect(printed.map((text) => [text.includes('client-1'), text.includes(credentials['X-Service-API-Key'])])).toEqual([
    [true, false],
    [true, false],
  ]);
});

test('an operation that a plugin supplies with other fragments is checked, priced and run with these', async () => {
  const fragments = ['count', 'secret'].map((field) => parse(`fragment F on Query { ${field} }`).definitions);
  const { definitions } = parse('{ again { ...F } }');
  const documents = fragments.map((each) => ({ kind: Kind.DOCUMENT, definitions: [...definitions, ...each] }) as const);
  await start([
    {
      onParse({ params: { source }, setParsedDocument }) {
        const document = documents[source === '{ hello }' ? 0 : 1];
        if (document) setParsedDocument(document);
      },
    },
  ]);
  server?.findKeysWith(async () => ({ ...storedKey, abilities: ['READ', 'READ_PAYLOAD'] }));
  for (const _ of runs) {
    const answers = [await send({ query: '{ hello }' }), await send({ query: '{ count }' })];
    expect(answers.map(({ data }) => data)).toEqual([{ again: { count: null } }, { again: { secret: 'secret' } }]);
  }
  server?.findKeysWith(async () => ({ ...storedKey, abilities: ['READ'] }));
  expect(await refusal({ query: '{ count }' })).toBe('403 FORBIDDEN');
});

test('a text that a plugin has read as another document is charged when it is read itself', async () => {
  const text = `{ hello } # ${'x'.repeat(900)}`;
  const masks: AnyPlugin = {
    onParse: ({ context, setParsedDocument }) =>
      void (context.request.headers.has('x-mask') && setParsedDocument(parse('{ __typename }'))),
  };
  await start([masks]);
  const costs: unknown[] = [];
  for (const mask of [{ 'X-Mask': '1' }, { 'X-Mask': '1' }, {}, {}]) {
    const { data, extensions } = await send({ query: text }, mask);
    costs.push([Object.keys(data ?? {})[0], extensions?.cost?.requestedQueryCost]);
  }
  expect(costs).toEqual([['__typename', 10], ['__typename', 10], ['hello', 10], ['hello', 2]]); // prettier-ignore
  const parsed = await server?.metrics.getSingleMetricAsString('deedwire_documents_parsed_total');
  expect(parsed).toContain('{interface="supplier",result="valid"} 1');
});

test('hooks see the request and its extensions, and not the API key', async () => {
  const seen: Record<string, unknown>[] = [];
  const see = (request: Request, params: object): unknown =>
    seen.push({
      method: request.method,
      url: request.url,
      client: request.headers.get('x-service-client-id'),
      key: request.headers.get('x-service-api-key'),
      params,
    });
  await start([
    {
      onRequest: ({ request }) => void see(request, {}),
      onParams: ({ request, params }) => void see(request, params),
      onExecute: ({ args: { contextValue } }) => void see(contextValue.request, contextValue.params),
    },
  ]);
  await send({ query: '{ hello }', extensions: { tenant: 'a' }, unknown: 1 });
  const expected = {
    method: 'POST',
    url: 'http://localhost/supplier/graphql?from=test',
    client: 'client-1',
    key: null,
    params: { query: '{ hello }', variables: {}, extensions: { tenant: 'a' } },
  };
  expect(seen).toEqual([{ ...expected, params: {} }, expected, expected]);
});

test('rules that a plugin adds run for each operation, including on a document that another client sent first', async () => {
  await start([
    {
      onValidate({ context, addValidationRule }) {
        const isHidden = context.request.headers.get('x-hide') !== null;
        if (isHidden) addValidationRule(NoSchemaIntrospectionCustomRule);
      },
    },
  ]);
  const query = '{ __schema { queryType { name } } }';
  for (const _ of runs) {
    expect(await send({ query })).toMatchObject({ data: { __schema: { queryType: { name: 'Query' } } } });
    expect(await refusal({ query }, { 'X-Hide': '1' })).toBe('200 GRAPHQL_VALIDATION_FAILED');
  }
});

test('a document with several operations gets the error that it gets without plugins', async () => {
  await start([createRecorder().plugin]);
  const query = 'query A { hello } query B { hello }';
  expect(await refusal({ query })).toBe('200 GRAPHQL_VALIDATION_FAILED');
  expect(await refusal({ query, operationName: 'C' })).toBe('200 GRAPHQL_VALIDATION_FAILED');
  expect(await send({ query, operationName: 'B' })).toMatchObject({ data: { hello: 'hello world' } });
});

describe('the plugins of an app come after the checks of a request:', () => {
  const query = `{ ${Array.from({ length: 20 }, (_, index) => `a${index}: again { hello }`).join(' ')} }`;

  test('no hook runs before authentication, or for a body that is no request', async () => {
    const { plugin, calls } = createRecorder();
    await start([plugin]);
    const outer: AnyPlugin = {
      onResponse: ({ response }) => void calls.push(`response ${response.status}`),
      instrumentation: {
        request(_: unknown, wrapped: () => void) {
          calls.push('request');
          return wrapped();
        },
      },
    };
    await server?.close();
    await start([outer]);
    expect(await refusal({ query }, { 'X-Service-Schema-Version': '2020-01-01' })).toBe(
      '400 UNSUPPORTED_SCHEMA_VERSION',
    );
    expect(await refusal({ query }, { 'X-Service-API-Key': 'wrong' })).toBe('401 UNAUTHENTICATED');
    expect(calls).toEqual([]);
    await server?.close();
    await start([plugin]);
    expect(await refusal({ query, variables: 1 })).toBe('400 BAD_REQUEST');
    expect(calls).toEqual([]);
  });

  test('a result that replaces the execution costs what the operation costs', async () => {
    await start([]);
    const { extensions } = await send({ query });
    const cost = { requestedQueryCost: 22, actualQueryCost: 22 };
    expect(extensions?.cost).toMatchObject(cost);
    await server?.close();
    const data = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, { hello: 'x' }]));
    await start([{ onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data }) }]);
    const replaced = await send({ query });
    expect(replaced).toMatchObject({ data, extensions: { cost } });
  });

  test('a result that comes before the operation is charged costs what the body costs', async () => {
    await start([{ onParams: ({ setResult }) => setResult({ data: { hello: 'x' } }) }]);
    const { extensions } = await send({ query: '{ hello }', extensions: { more: 'x'.repeat(2_000) } });
    expect(extensions?.cost).toMatchObject({ requestedQueryCost: 5, actualQueryCost: 5 });
  });

  test('the limit of an operation holds before and after the other plugins', async () => {
    const rename: AnyPlugin = {
      onParams: ({ params, setParams }) => setParams({ ...params, query: '{ hello }' }),
    };
    const grow: AnyPlugin = { onParams: ({ params, setParams }) => setParams({ ...params, query }) };
    const limits = { operationCostPoints: 10 };
    await start([rename, grow], { limits });
    expect(await refusal({ query: '{ hello }' })).toBe('200 OPERATION_TOO_COMPLEX');
    await server?.close();
    await start([grow, rename], { limits });
    expect(await send({ query: '{ hello }' })).toMatchObject({ data: { hello: 'hello world' } });
  });

  test('resolvers get what a plugin adds to their context', async () => {
    await start([{ onContextBuilding: ({ extendContext }) => extendContext({ more: 1 }) }]);
    const mutation = 'mutation { first(input: { name: "a" }) }';
    expect(await send({ query: mutation })).toMatchObject({ data: { first: 'client-1 a' } });
  });
});

const fail = (): never => {
  throw new Error('a bug in a plugin');
};
const refuse = (): never => {
  throw new GraphQLError('Pay first.', {
    extensions: {
      code: 'PAYMENT_REQUIRED',
      invoice: 7,
      // Of another system.
      requestId: 'other',
      documentationUrl: 'https://other.example',
      http: { status: 402, headers: { 'X-Invoice': '7' } },
    },
  });
};

describe('a plugin that', () => {
  const hooks = [
    'onRequest',
    'onRequestParse',
    'onParams',
    'onParse',
    'onParseDone',
    'onValidate',
    'onContextBuilding',
    'onExecute',
    'onExecuteDone',
    'onExecutionResult',
    'onResultProcess',
    'onResponse',
  ];
  let failing = '';
  let end: () => unknown;
  const act = (hook: string): void => (hook === failing ? (end() as never) : undefined);
  const plugin: AnyPlugin = {
    onParams: () => act('onParams'),
    onParse() {
      act('onParse');
      return () => act('onParseDone');
    },
    onValidate: () => act('onValidate'),
    onContextBuilding: () => act('onContextBuilding'),
    onExecute: () => act('onExecute') ?? { onExecuteDone: () => act('onExecuteDone') },
    onRequest: () => act('onRequest'),
    onRequestParse: () => act('onRequestParse'),
    onExecutionResult: () => act('onExecutionResult'),
    onResultProcess: () => act('onResultProcess'),
    onResponse: () => act('onResponse'),
  };

  /** What a client gets when a hook acts: in the first operation of a document, and in one whose document is cached. */
  async function eachHook(names: string[], action: () => unknown, ask: () => Promise<unknown>): Promise<unknown[]> {
    const answers: unknown[] = [];
    end = action;
    for (failing of [...names, ...names]) answers.push(await ask());
    return answers;
  }

  test.each([
    ['an AbortError', new DOMException('secret', 'AbortError')],
    ['a text', 'secret'],
    ['nothing', undefined],
  ])('throws %s, which is no error to send, fails the request with 500', async (_, thrown: unknown) => {
    await start([plugin]);
    const throws = (): never => {
      throw thrown;
    };
    const names = ['onParams', 'onContextBuilding', 'onExecute'];
    const answers = await eachHook(names, throws, () => send({ query: '{ hello }' }));
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 500, errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] });
      expect(JSON.stringify(answer)).not.toContain('secret');
    }
  });

  test('throws fails the request with 500 and a line in the log', async () => {
    await start([plugin]);
    const answers = await eachHook(hooks, fail, () => refusal({ query: '{ hello }' }));
    expect(answers).toEqual(answers.map(() => '500 INTERNAL_SERVER_ERROR'));
    const lines = server?.logged.filter(({ alarm }) => alarm === 'request-broken');
    expect(lines).toHaveLength(2 * hooks.length);
    expect(lines?.[0]).toMatchObject({ level: 'error', clientId: 'client-1', err: { message: 'a bug in a plugin' } });
    expect(await server?.metrics.getSingleMetricAsString('deedwire_alarms_total')).toContain(
      `\ndeedwire_alarms_total{alarm="request-broken"} ${2 * hooks.length}`,
    );
  });

  test('throws a GraphQLError refuses the request with its code, extensions, status and headers', async () => {
    await start([plugin]);
    const answers = await eachHook(hooks, refuse, async () => {
      const { status, headers, errors } = await send({ query: '{ hello }' });
      return [status, headers.get('x-invoice'), errors];
    });
    const extensions = { code: 'PAYMENT_REQUIRED', invoice: 7, requestId: expect.stringMatching(/^[\da-f-]{36}$/) };
    expect(answers).toEqual(answers.map(() => [402, '7', [{ message: 'Pay first.', extensions }]]));
    expect(server?.logged.filter(({ err }) => err !== undefined)).toEqual([]);
  });

  test.each([
    'onRequest',
    'onRequestParse',
    'onParams',
    'onExecute',
    'onExecutionResult',
    'onResultProcess',
    'onResponse',
  ])('rejects in %s, for which Yoga waits, fails the request with 500', async (hook) => {
    await start([{ [hook]: () => Promise.reject(new Error('a bug in a plugin')) }]);
    expect(await refusal({ query: '{ hello }' })).toBe('500 INTERNAL_SERVER_ERROR');
    expect(server?.logged.at(-1)).toMatchObject({ msg: 'request', status: 500, code: 'INTERNAL_SERVER_ERROR' });
  });

  test('fails after the charge leaves no slot taken, and the client can go on', async () => {
    await start([plugin]);
    const names = Array.from({ length: 10 }, () => 'onExecute');
    const answers = await eachHook(names, fail, () => refusal({ query: '{ hello }' }));
    expect(answers).toEqual(answers.map(() => '500 INTERNAL_SERVER_ERROR'));
    failing = '';
    expect(await send({ query: '{ hello }' })).toMatchObject({ data: { hello: 'hello world' } });
  });

  test('executes an operation after its result gets an error, and nothing runs', async () => {
    const late = Promise.withResolvers<unknown>();
    const background: AnyPlugin = {
      onExecute({ executeFn, setExecuteFn }) {
        setExecuteFn((args: ExecutionArgs) => {
          setTimeout(() => late.resolve(executeFn(args)), 20);
          return { data: { second: 'cached' } };
        });
      },
    };
    await start([background]);
    expect(await send({ query: 'mutation { second }' })).toMatchObject({ data: { second: 'cached' } });
    expect(await late.promise).toEqual({ errors: [new GraphQLError('The operation is over.')] });
  });
});

const other = parse('{ again { count } }');
const invalid = parse('{ nope }');
const deep = parse(`${'{ again '.repeat(11)}{ hello }${'}'.repeat(11)}`);
const tooLong = { data: { hello: 'x'.repeat(2_000) } };
const bug = {
  data: { hello: null },
  errors: [new GraphQLError('secret', { originalError: new Error('select secret_column') })],
};
const masked = ['200 INTERNAL_SERVER_ERROR', 'An internal error occurred. Include the request id when you report it.'];

const bugOfPlugin = ['500 INTERNAL_SERVER_ERROR', masked[1]];
/** What a response of another server can have. */
const proxied = {
  'Content-Length': '5',
  'Transfer-Encoding': 'chunked',
  'Content-Encoding': 'gzip',
  Connection: 'close',
  'Cache-Control': 'public',
  'X-Request-Id': 'other',
  'X-Own': '1',
};

type Answering = { fetchAPI: typeof globalThis } & Partial<
  Record<'endResponse' | 'setResponse', (response: Response) => void>
>;

/** A hook that answers itself. */
const respondWith = (text: string, status: number) => (payload: object) => {
  const answering = payload as Answering;
  const response = new answering.fetchAPI.Response(text, { status, headers: { 'X-Own': '1' } });
  if (answering.setResponse) answering.setResponse(response);
  else answering.endResponse?.(response);
};

describe('what a plugin sets lifts no limit, no deadline and no entry of the error table:', () => {
  const limits = { operationMs: 200, responseBytes: 1_500 };

  /** What a client gets: `200`, or a code with its message. */
  async function outcome(plugin: AnyPlugin, body: object = { query: '{ hello }' }): Promise<unknown> {
    await start([plugin], { limits });
    const { status, headers, data, errors: [error] = [], extensions } = await send(body);
    expect(headers.get('x-service-schema-version')).toBe('2026-01-01');
    expect(headers.get('ratelimit')).toMatch(/^"clientCostPoints";r=/);
    if (error) return [`${status} ${String(error.extensions['code'])}`, error.message];
    return [status, data, extensions?.cost?.actualQueryCost];
  }
  const notFound = expect.stringContaining('"nope"');
  const tooLarge = ['200 OPERATION_TOO_COMPLEX', expect.stringContaining('at most 1,500 are allowed')];

  test.each<[string, AnyPlugin, unknown, object?]>([
    ['setParamsHandler', { onParams: ({ setParamsHandler }) => setParamsHandler(() => ({ data: { hello: 'x' } })) }, [200, { hello: 'x' }, 1]], // prettier-ignore
    ['setResult of onParams', { onParams: ({ setResult }) => setResult(tooLong) }, tooLarge],
    ['setParsedDocument', { onParse: ({ setParsedDocument }) => setParsedDocument(deep) }, ['200 OPERATION_TOO_COMPLEX', expect.stringContaining('12')]], // prettier-ignore
    ['replaceParseResult', { onParse: () => ({ replaceParseResult }) => replaceParseResult(invalid) }, ['200 GRAPHQL_VALIDATION_FAILED', notFound]], // prettier-ignore
    ['setResult of onValidate', { onValidate: ({ setResult }) => setResult([]) }, ['200 GRAPHQL_VALIDATION_FAILED', notFound], { query: '{ nope }' }], // prettier-ignore
    ['setResult after validation', { onValidate: () => ({ setResult }) => setResult([]) }, ['200 GRAPHQL_VALIDATION_FAILED', notFound], { query: '{ nope }' }], // prettier-ignore
    ['breakContextBuilding', { onContextBuilding: ({ breakContextBuilding }) => breakContextBuilding() }, [200, { hello: 'hello world' }, 1]], // prettier-ignore
    ['setExecuteFn with a function that hangs', { onExecute: ({ setExecuteFn }) => setExecuteFn(() => new Promise(() => {})) }, ['503 OPERATION_TIMEOUT', expect.any(String)]], // prettier-ignore
    ['setResultAndStopExecution', { onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution(tooLong) }, tooLarge], // prettier-ignore
    ['setResult of onExecuteDone', { onExecute: () => ({ onExecuteDone: ({ setResult }) => setResult(bug) }) }, masked], // prettier-ignore
    ['setResult of onExecutionResult', { onExecutionResult: (payload) => payload.setResult(bug) }, masked],
    ['setResult of onResultProcess', { onResultProcess: (payload) => payload.setResult(bug) }, masked],
    ['endResponse of onRequest', { onRequest: respondWith('{"data":1}', 200) }, [200, 1, undefined]],
    ['endResponse of onRequestParse', { onRequestParse: respondWith('{"data":1}', 200) }, [200, 1, undefined]],
    ['setResponse', { onResponse: respondWith('{"data":1}', 200) }, [200, 1, undefined]],
    ['setResponse with no status', { onResponse: respondWith('{}', 42) }, bugOfPlugin],
    ['a header with a line break', { onResponse: ({ response }) => response.headers.set('X-Own', 'a\r\nb: c') }, bugOfPlugin], // prettier-ignore
    ['a header of an error with a line break', { onRequest: () => { throw new GraphQLError('', { extensions: { http: { headers: { 'X-Own': 'a\nb' } } } }); } }, bugOfPlugin], // prettier-ignore
  ])('%s', async (_, plugin, expected, body) => {
    expect(await outcome(plugin, body)).toEqual(expected);
  });

  test.each<[string, AnyPlugin]>([
    ['of a response', { onRequest: (payload) => payload.endResponse(new Response('{}', { headers: proxied })) }],
    ['of our response', { onResponse: ({ response }) => Object.entries(proxied).forEach(([name, value]) => response.headers.set(name, value)) }], // prettier-ignore
  ])('the HTTP layer frames the response, whatever the headers %s say', async (_, plugin) => {
    await start([plugin]);
    const { status, headers } = await send({ query: '{ hello }' });
    const names = ['x-own', 'cache-control', 'transfer-encoding', 'content-encoding'];
    expect([status, ...names.map((name) => headers.get(name))]).toEqual([200, '1', 'no-store', null, null]);
    expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });

  test('a response of a plugin costs a point', async () => {
    const deducted: number[] = [];
    const buckets = createCostBuckets({ settle: async (__, { needed, spare }) => ({ granted: needed + spare, points: 1_500 }) }); // prettier-ignore
    await start([{ onRequest: respondWith('{}', 403) }], {
      buckets: { ...buckets, deduct: (_, __, points) => void deducted.push(points) },
    });
    const { status, headers } = await send({ query: '{ hello }' });
    expect([status, headers.get('x-own'), deducted]).toEqual([403, '1', [1]]);
  });
});

test.each<[string, (args: ExecutionArgs) => void]>([
  [
    'changes a document in place',
    ({ document }) => void Object.assign(document.definitions[0] ?? {}, other.definitions[0]),
  ],
  ['replaces definitions', ({ document }) => void Object.assign(document, other)],
])('a plugin that %s fails, and the next request gets its own document', async (_, change) => {
  let isChanging = true;
  await start([{ onExecute: ({ args }) => (isChanging ? change(args) : undefined) }]);
  const answer = await send({ query: '{ hello }' }, newer);
  expect([answer.status, answer.data]).toEqual([500, undefined]);
  isChanging = false;
  for (const run of runs)
    expect([run, (await send({ query: '{ hello }' })).data]).toEqual([run, { hello: 'hello world' }]);
});

test('errors about variables cost what a rejected document costs, even if a plugin copies or masks them', async () => {
  const copies: AnyPlugin = {
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        if ('errors' in result && result.errors) setResult({ ...result, errors: [...result.errors] });
      },
    }),
  };
  const query = 'query ($a: Int!, $b: Int!) { hello(times: $a) b: hello(times: $b) }';
  const answers: unknown[] = [];
  for (const plugins of [[], [copies], [useMaskedErrors()]]) {
    await server?.close();
    await start(plugins);
    const { errors, extensions } = await send({ query, variables: { a: 'x', b: 'y' } });
    answers.push([errors?.map(({ message }) => message), extensions?.cost?.actualQueryCost]);
  }
  const [plain, ...others] = answers;
  expect(plain).toEqual([[expect.stringContaining('"$a"'), expect.stringContaining('"$b"')], 40]);
  expect(others).toEqual([plain, plain]);
});

test('errors that a plugin sets instead of a result refuse the operation, which keeps its charge', async () => {
  const error = new GraphQLError('Slow down.', { extensions: { code: 'RATE_LIMITED' } });
  const refunded: number[] = [];
  const buckets = createCostBuckets({ settle: async (_, { needed, spare }) => ({ granted: needed + spare, points: 1_500 }) }); // prettier-ignore
  await start([{ onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ errors: [error] }) }], {
    buckets: { ...buckets, refund: (id, limit, points) => (refunded.push(points), buckets.refund(id, limit, points)) },
  });
  const { errors } = await send({ query: '{ hello }' });
  expect(errors?.[0]).toMatchObject({ message: 'Slow down.', extensions: { code: 'RATE_LIMITED' } });
  expect(refunded).toEqual([0]);
});
