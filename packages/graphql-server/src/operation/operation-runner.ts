import { execute as interpret, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { ThrottleStatus } from '../cost/bucket.ts';
import type { Pricing } from '../cost/operation-price.ts';
import { createOperationExecutor } from '../execution/execute-operation.ts';
import type { Parameters } from '../transport/parameters.ts';
import type { DocumentLimits } from './document-limits.ts';
import { createDocuments } from './documents.ts';
import { validateDocument } from './read-document.ts';
import { selectOperation } from './select-operation.ts';

/** Runs operations on one schema. */
export interface OperationRunner {
  /**
   * Charges the largest cost of the operation, runs it, and refunds what its response did not cost. A failed operation
   * without a result keeps its charge.
   *
   * @throws {RequestError} if the operation is rejected before execution or times out.
   */
  run(parameters: Parameters, context: object, account: CostAccount): Promise<OperationResult>;
}

/** The bucket of the client of a request. */
export interface CostAccount {
  /** @throws {RequestError} if the bucket holds fewer points. */
  charge(points: number): Promise<void>;
  refund(points: number): ThrottleStatus;
}

export interface OperationResult {
  execution: ExecutionResult;
  /** The value of `extensions.cost`. */
  cost: OperationCost;
}

export interface OperationCost {
  /** The price of the operation before it ran, in points. */
  requestedQueryCost: number;
  /** The price of what the response contains, in points. */
  actualQueryCost: number;
  /** The bucket after the refund. */
  throttleStatus: ThrottleStatus;
}

export interface OperationLimits extends DocumentLimits {
  /** The time limit for the execution of an operation. */
  operationMs: number;
}

const graphqlPlugin: Plugin = {
  // graphql's own `execute` supports `abortSignal`. Yoga's default executor reads it from `args.signal` instead.
  onExecute: ({ setExecuteFn }) => setExecuteFn(interpret),
  // Yoga adds all rules of graphql to the given ones. One of them takes quadratic time.
  onValidate: ({ setValidationFn }) => setValidationFn(validateDocument),
};

/**
 * Yoga is used for `getEnveloped` only, which is envelop's plugin pipeline: `parse`, `validate`, `contextFactory` and
 * `execute` run the hooks of plugins (`onParse`, `onValidate`, `onContextBuilding`, `onExecute`). Operations that run by a plan
 * skip the last two. With the one plugin above, a run does the same as calling graphql's `parse`, `validateDocument` and
 * graphql's `execute`. Yoga's own plugins then add three things, none of which we use:
 * `extensions.code` and `extensions.http` on validation errors, a GET check that needs a `request` in the context, and
 * hooks for subscriptions.
 *
 * Yoga's HTTP layer is not used, because its Request and Response objects cost more than a small operation. Masked errors,
 * logging, GraphiQL, the landing page and CORS belong to that layer or are done in `transport/` and `errors/`. The parser
 * and validation caches are off because they limit the number of documents, not their size, and keep invalid documents.
 */
export function createOperationRunner(
  schema: GraphQLSchema,
  pricing: Pricing,
  limits: OperationLimits,
): OperationRunner {
  const { getEnveloped } = createYoga({
    schema,
    plugins: [graphqlPlugin],
    maskedErrors: false,
    parserAndValidationCache: false,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
  });
  const execute = createOperationExecutor(schema, limits);
  const documents = createDocuments(schema, limits);

  return {
    async run({ query, variables, operationName }, context, account) {
      const document = documents.read(query, () => getEnveloped(context));
      const operation = selectOperation(document, operationName);
      const { requestedQueryCost, priceOf } = pricing.price(document, operation, variables);
      await account.charge(requestedQueryCost);
      const execution = await execute({ document, operation, variables, contextValue: context }, async (args) => {
        const enveloped = getEnveloped(context);
        return enveloped.execute({ ...args, contextValue: await enveloped.contextFactory() });
      });
      const actualQueryCost = priceOf(execution.data);
      const throttleStatus = account.refund(requestedQueryCost - actualQueryCost);
      return { execution, cost: { requestedQueryCost, actualQueryCost, throttleStatus } };
    },
  };
}
