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
  /** @throws {RequestError} when it is not run at all, or takes too long. */
  run(parameters: Parameters, context: object): Promise<ExecutionResult>;
}

export interface OperationLimits extends DocumentLimits {
  /** From a complete request until its operation is done. */
  operationMs: number;
}

/** graphql's own, because it can be aborted. */
const executePlugin: Plugin = {
  onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  onValidate: ({ addValidationRule }) => addValidationRule(StorableTextRule),
};

/**
 * Yoga's engine without its HTTP layer, whose Request and Response objects cost more than running a small operation.
 * Its caches are off: they count documents, not bytes, and keep what does not parse.
 */
export function createEngine(schema: GraphQLSchema, limits: OperationLimits): Engine {
  const { getEnveloped } = createYoga({
    schema,
    plugins: [executePlugin],
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

/** Nothing is done with a document that goes over a limit: parsing stops there, validation does not begin. */
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
    // The parser recurses: many opening brackets, and nothing else, take it to the end of the stack.
    if (error instanceof RangeError) throw new RequestError('OPERATION_TOO_COMPLEX', { cause: error });
    if (error instanceof GraphQLError) throw new RequestError('GRAPHQL_PARSE_FAILED', { found: [error] });
    throw error;
  }
}
