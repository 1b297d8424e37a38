import type { IncomingMessage } from 'node:http';
import { apiKeyHeader } from '@deedwire/domain';
import { requestPath } from '@deedwire/service-runtime';
import { type Deadline, Deadlines } from '@deedwire/store';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLSchema,
  Location,
  specifiedRules,
  type ValidationRule,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { RequestError } from '../errors/request-error.ts';
import { type OperationExecutor, timeoutError, withDeadline } from '../execution/execute-operation.ts';
import { type Parameters, readParameters, requireQuery } from '../transport/parameters.ts';
import { pausesOf } from './operation-pauses.ts';
import { type DocumentSteps, validateRules } from './read-document.ts';
import { findOperation } from './select-operation.ts';

/**
 * A plugin of Envelop, or one of Yoga that does not use its HTTP layer. Not Yoga's type, which would add the global types of
 * browsers to the apps, and allows every object too.
 */
export type InterfacePlugin = object;

// Hooks can demand what a plugin adds to the context.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyPlugin = Plugin<any>;

/** What an operation passes. With plugins, their hooks run around each step. */
export interface OperationSteps extends DocumentSteps {
  execute: OperationExecutor;
}

/** Runs an operation with the parameters that plugins have chosen, and with steps that call their hooks. */
export type RunOperation = (parameters: Parameters, steps: OperationSteps) => Promise<ExecutionResult>;

export interface PluginHooks {
  /**
   * Runs the hooks of a request around its operation. Does not call `runOperation` if a plugin has the result already.
   *
   * @param context of the resolvers. Plugins can add properties, but not change those it has.
   */
  run(
    request: { message: IncomingMessage; parameters: Parameters },
    context: object,
    runOperation: RunOperation,
  ): Promise<ExecutionResult>;
}

const operationHooks = [
  'onEnveloped',
  'onParams',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onExecutionResult',
  'instrumentation',
] as const;

/** They belong to Yoga's HTTP layer, so they would never be called. */
const unsupportedHooks = ['onRequest', 'onRequestParse', 'onResultProcess', 'onResponse', 'onDispose'] as const;
const unsupportedInstrumentation = ['request', 'requestParse', 'operation', 'resultProcess'] as const;

/**
 * Yoga is used for its plugins: `getEnveloped` and `getResultForParams` call their hooks. Our handler replaces its HTTP layer,
 * because the Request and Response objects cost more than a small operation. Masked errors, logging, GraphiQL, the landing page
 * and CORS belong to that layer or are done in `transport/` and `errors/`. The parser and validation caches are off because
 * they limit the number of documents, not their size, and keep invalid documents.
 *
 * Whatever the plugins do, and in whichever order, a request is authenticated before, its operation is charged, validated
 * and limited outside of their hooks, and the deadline includes them.
 *
 * @param steps without hooks
 * @returns null if no plugin has a hook that operations call. They need no Yoga then.
 * @throws {Error} if a plugin needs a hook that is never called, or replaces the schema.
 */
export function createPluginHooks(
  schema: GraphQLSchema,
  plugins: readonly InterfacePlugin[],
  steps: OperationSteps,
  { operationMs }: { operationMs: number },
): PluginHooks | null {
  const runs = new WeakMap<object, (parameters: Parameters) => Promise<ExecutionResult>>();
  /** By their contexts. */
  const executions = new WeakMap<object, Execution>();
  const graphqlRules = new Set(specifiedRules);
  /** In their order, with those that plugins have added. */
  let all: AnyPlugin[] = [];

  const first: AnyPlugin = {
    onPluginInit({ plugins: current }) {
      all = current;
    },
    onSchemaChange({ schema: current }) {
      if (current !== schema) throw new Error('A plugin replaced the schema. The schema of a version is its contract.');
    },
    onParams({ setParamsHandler }) {
      setParamsHandler(({ params, context }) => {
        const run = runs.get(context);
        if (!run) throw new Error('A plugin replaced the context. Add properties to it instead.');
        return run(readParameters({ ...params }));
      });
    },
    onParse: ({ setParseFn }) => setParseFn((query: string) => withFixedNodes(steps.parse(query))),
    onValidate({ setValidationFn }) {
      setValidationFn((_, document, rules = []) => {
        const errors = steps.validate(document);
        if (errors.length > 0) return errors;
        return validateRules(
          schema,
          document,
          rules.filter((rule: ValidationRule) => !graphqlRules.has(rule)),
        );
      });
    },
    onExecute({ setExecuteFn }) {
      setExecuteFn(({ document, operationName, variableValues, contextValue }: ExecutionArgs) => {
        const operation = getOperationAST(document, operationName);
        if (!operation) throw new Error('A plugin replaced the document by one without the operation.');
        const execution = typeof contextValue === 'object' && contextValue ? executions.get(contextValue) : undefined;
        if (execution?.isLate === true) throw new RequestError('OPERATION_TIMEOUT');
        if (execution && execution.document !== document)
          throw new Error(
            'A plugin replaced the document in onExecute. Replace it in onParse: it is validated and priced then.',
          );
        return steps.execute({ document, operation, variables: variableValues ?? {}, contextValue });
      });
    },
  };
  // Its checks come before those of Yoga, which have other messages.
  const last: AnyPlugin = {
    onParams: ({ params }) => void requireQuery(params),
    onParse:
      () =>
      ({ result, context }) => {
        if (!(result instanceof Error)) findOperation(result, context.params.operationName ?? null);
      },
  };

  const { getEnveloped, getResultForParams, fetchAPI } = createYoga({
    schema,
    plugins: [first, ...plugins, last],
    maskedErrors: false,
    parserAndValidationCache: false,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
  });
  const given = all.slice(all.indexOf(first) + 1, all.indexOf(last));
  for (const plugin of given) checkHooks(plugin);
  if (!given.some((plugin) => operationHooks.some((hook) => plugin[hook]))) return null;

  const deadlines = new Deadlines(operationMs);

  /** One for each operation. */
  function openSteps(context: object): OperationSteps {
    const { parse, validate, contextFactory, execute } = getEnveloped(context);
    return {
      parse: (query) => parse(query),
      validate(document) {
        const errors = validate(schema, document);
        // A plugin can skip validation, but prices and limits are for valid documents only. This costs a lookup.
        return errors.length > 0 ? errors : steps.validate(document);
      },
      execute({ document, operation, variables }) {
        const execution: Execution = { document, isLate: false };
        const run = async (): Promise<ExecutionResult> => {
          const contextValue = await contextFactory();
          executions.set(contextValue, execution);
          const operationName = operation.name?.value;
          const args = { schema, document, contextValue, variableValues: variables, operationName };
          return singleResult(await execute(args));
        };
        const onLate = (): void => {
          execution.isLate = true;
        };
        return withDeadline(run(), deadlines, onLate, pausesOf(context));
      },
    };
  }

  return {
    async run({ message, parameters }, context, runOperation) {
      for (const name of Object.keys(context)) Object.defineProperty(context, name, { writable: false });
      const request = toRequest(message, fetchAPI);
      Object.assign(context, { request });
      const hooksOnly = createHookDeadline(deadlines);
      runs.set(context, async (chosen) => {
        hooksOnly.pause();
        // The client has a response.
        if (hooksOnly.isExpired()) throw new RequestError('OPERATION_TIMEOUT');
        Object.assign(context, { params: toParams(chosen) });
        try {
          return await runOperation(chosen, openSteps(context));
        } finally {
          hooksOnly.start();
        }
      });
      const run = async (): Promise<ExecutionResult> =>
        singleResult(await getResultForParams({ params: toParams(parameters), request }, context));
      try {
        hooksOnly.start();
        return await Promise.race([run(), hooksOnly.expired]);
      } finally {
        hooksOnly.pause();
      }
    },
  };
}

/** An execution, around which hooks run. */
interface Execution {
  /** Validated and priced. */
  readonly document: DocumentNode;
  /** Its deadline has passed, so the client has a response. */
  isLate: boolean;
}

/**
 * Freezes the nodes of a document. Other requests get the same ones, validated, so a plugin has to replace what it changes. It
 * can add properties to the document itself.
 */
function withFixedNodes(document: DocumentNode): DocumentNode {
  if (Object.isFrozen(document.definitions)) return document;
  freeze(document.definitions);
  return Object.defineProperty(document, 'definitions', { writable: false, configurable: false });
}

function freeze(value: unknown): void {
  // Places have the whole text, which validation hides meanwhile.
  if (typeof value !== 'object' || value === null || value instanceof Location) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

function checkHooks(plugin: AnyPlugin): void {
  if (typeof plugin !== 'object') throw new Error('A plugin is not an object. Call the function that creates it.');
  const { instrumentation } = plugin;
  const found =
    unsupportedHooks.find((hook) => plugin[hook]) ??
    unsupportedInstrumentation.find((hook) => instrumentation?.[hook] !== undefined);
  if (found === undefined) return;
  throw new Error(
    `A plugin registers "${found}", which belongs to the HTTP layer of Yoga and is never called here. ` +
      'Use a plugin without it, or remove it from the plugin.',
  );
}

/** Yoga's classes cost less than those of Node. */
type FetchApi = Pick<typeof globalThis, 'Headers' | 'Request'>;

/** The head of the request, without the API key. The body has been read. */
function toRequest(message: IncomingMessage, { Headers, Request }: FetchApi): Request {
  const headers = new Headers();
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    const name = String(message.rawHeaders[index]);
    // Plugins log or trace what a request contains.
    if (name.toLowerCase() !== apiKeyHeader) headers.append(name, String(message.rawHeaders[index + 1]));
  }
  // The Host header is whatever the client sends, so it is not a part of the URL.
  const [search = ''] = /\?[^#]*/.exec(message.url ?? '') ?? [];
  return new Request(`http://localhost${requestPath(message)}${search}`, { method: 'POST', headers });
}

function toParams({ query, variables, operationName, extensions }: Parameters) {
  return {
    ...(query !== null && { query }),
    variables,
    ...(operationName !== null && { operationName }),
    ...(extensions !== null && { extensions }),
  };
}

function singleResult(result: unknown): ExecutionResult {
  const isResult = typeof result === 'object' && result !== null && !(Symbol.asyncIterator in result);
  if (!isResult) throw new Error('A plugin returned something else than a single result.');
  return result;
}

/** Ends the wait for a hook that takes too long. Operations have their own deadline. */
function createHookDeadline(deadlines: Deadlines) {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  let deadline: Deadline | null = null;
  let isExpired = false;
  return {
    expired,
    isExpired: () => isExpired,
    start() {
      deadline = deadlines.start(() => {
        isExpired = true;
        reject(timeoutError('The hooks of plugins', deadlines));
      });
    },
    pause() {
      if (deadline !== null) deadlines.end(deadline);
    },
  };
}
