import {
  type DocumentNode,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { RequestError } from '../errors/request-error.ts';
import type { Parameters } from '../transport/parameters.ts';
import { createDocumentCache } from './document-cache.ts';
import { checkDocument, checkTokens, type DocumentLimits } from './document-limits.ts';
import { selectOperation } from './select-operation.ts';
import { StorableTextRule } from './storable-text-rule.ts';

/** Runs operations on one schema. */
export interface Engine {
  /** @throws {RequestError} if the operation is rejected before execution or times out. */
  run(parameters: Parameters, context: object): Promise<ExecutionResult>;
}

export interface OperationLimits extends DocumentLimits {
  /** The time limit for the execution of an operation. */
  operationMs: number;
}

const enginePlugin: Plugin = {
  // graphql's own `execute` supports `abortSignal`. Yoga's default executor reads it from `args.signal` instead.
  onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  onValidate: ({ addValidationRule }) => addValidationRule(StorableTextRule),
};

/**
 * Yoga is used for `getEnveloped` only, which is envelop's plugin pipeline: `parse`, `validate`, `contextFactory` and
 * `execute` run the hooks of plugins (`onParse`, `onValidate`, `onContextBuilding`, `onExecute`), so that tracing or a
 * compiled executor can be added as a plugin. With the one plugin above, a run does the same as calling graphql's `parse`,
 * `validate` (the specified rules and ours) and `execute`. Yoga's own plugins then add three things, none of which we use:
 * `extensions.code` and `extensions.http` on validation errors, a GET check that needs a `request` in the context, and
 * hooks for subscriptions.
 *
 * Yoga's HTTP layer is not used, because its Request and Response objects cost more than a small operation. Masked errors,
 * logging, GraphiQL, the landing page and CORS belong to that layer or are done in `transport/` and `errors/`. The parser
 * and validation caches are off because they limit the number of documents, not their size, and keep invalid documents.
 */
export function createEngine(schema: GraphQLSchema, limits: OperationLimits): Engine {
  const { getEnveloped } = createYoga({
    schema,
    plugins: [enginePlugin],
    maskedErrors: false,
    parserAndValidationCache: false,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
  });
  const validDocuments = createDocumentCache<DocumentNode>();

  return {
    async run({ query, variables, operationName }, context) {
      const enveloped = getEnveloped(context);
      let document = validDocuments.get(query);
      if (!document) {
        document = readDocument(query, limits, enveloped);
        validDocuments.set(query, document);
      }
      selectOperation(document, operationName);

      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), limits.operationMs);
      try {
        const contextValue: unknown = await enveloped.contextFactory();
        const abortSignal = deadline.signal;
        const args: ExecutionArgs = {
          schema,
          document,
          contextValue,
          variableValues: variables,
          operationName,
          abortSignal,
        };
        return await enveloped.execute(args);
      } catch (error) {
        if (deadline.signal.aborted) throw new RequestError('OPERATION_TIMEOUT', { cause: error });
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

type Reader = Pick<ReturnType<ReturnType<typeof createYoga>['getEnveloped']>, 'parse' | 'validate' | 'schema'>;

/** Parsing stops at the token limit, and validation does not begin for a document that exceeds another limit. */
function readDocument(query: string, limits: DocumentLimits, { parse, validate, schema }: Reader): DocumentNode {
  const document = parseDocument(query, limits, parse);
  checkDocument(document, limits);
  const found: readonly GraphQLError[] = validate(schema, document);
  if (found.length > 0) throw new RequestError('GRAPHQL_VALIDATION_FAILED', { found });
  return document;
}

function parseDocument(query: string, limits: DocumentLimits, parse: Reader['parse']): DocumentNode {
  try {
    return parse(query, { maxTokens: limits.queryTokens });
  } catch (error) {
    checkTokens(query, limits);
    // The parser is recursive: a document of opening brackets only can overflow the stack.
    if (error instanceof RangeError) throw new RequestError('OPERATION_TOO_COMPLEX', { cause: error });
    if (error instanceof GraphQLError) throw new RequestError('GRAPHQL_PARSE_FAILED', { found: [error] });
    throw error;
  }
}
