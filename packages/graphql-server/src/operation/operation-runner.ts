import { type DocumentNode, execute as interpret, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { ThrottleStatus } from '../cost/bucket.ts';
import type { EndTurn } from '../cost/client-turns.ts';
import type { Pricing } from '../cost/operation-price.ts';
import { bodyCost, type ReadingCostLimits, readingCost, rejectionCost } from '../cost/reading-cost.ts';
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
   * without a result keeps its charge, unless it got no slot.
   *
   * A document that is not cached is charged before it is parsed, because its price is not known earlier. Its operation costs at
   * least as much. A document that is rejected costs more.
   *
   * @throws {RequestError} if the operation is rejected before execution or times out.
   */
  run(request: OperationRequest, context: object, account: CostAccount): Promise<OperationResult>;
}

export interface OperationRequest extends Parameters {
  bodyBytes: number;
}

/** The bucket of the client of a request. */
export interface CostAccount {
  /** Resolves when the client may occupy the process with a new document. */
  turn(): Promise<EndTurn>;
  /**
   * Resolves when the client may run an operation, with a function that ends it.
   *
   * @throws {RequestError} if others of its operations run for too long, or the client has gone.
   */
  slot(): Promise<() => void>;
  /** @throws {RequestError} if the bucket holds fewer points. */
  chargeReading(points: number): Promise<void>;
  /**
   * @param price what the operation costs if its document is cached
   * @param paid the part of the price that reading the document has paid
   * @throws {RequestError} if the bucket holds fewer points.
   */
  chargeOperation(price: number, paid: number): Promise<void>;
  /** Takes points even if the bucket holds fewer. */
  deduct(points: number): void;
  refund(points: number): ThrottleStatus;
}

interface PaidDocument {
  document: DocumentNode;
  paid: number;
}

export interface OperationResult {
  execution: ExecutionResult;
  /** The value of `extensions.cost`. */
  cost: OperationCost;
}

export interface OperationCost {
  /** The points charged before the operation ran: its price, or those for reading the request if they are more. */
  requestedQueryCost: number;
  /** The points charged in the end: the price of what the response contains, or those for reading the request if they are more. */
  actualQueryCost: number;
  /** The bucket after the refund. */
  throttleStatus: ThrottleStatus;
}

export interface OperationLimits extends DocumentLimits, ReadingCostLimits {
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
 *
 * @param onParsed called for each document that was parsed because it was not cached. Must not throw.
 */
export function createOperationRunner(
  schema: GraphQLSchema,
  pricing: Pricing,
  limits: OperationLimits,
  onParsed: (isValid: boolean) => void,
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

  /** Reads a document that is not cached. `paid` are the points charged for it. */
  async function readNew(query: string, context: object, account: CostAccount): Promise<PaidDocument> {
    const endTurn = await account.turn();
    let occupiedMs = 0;
    try {
      const known = documents.find(query); // another request with the same document came first
      if (known) return { document: known, paid: 0 };
      const bytes = Buffer.byteLength(query);
      const paid = readingCost(bytes, limits);
      await account.chargeReading(paid);
      const startMs = performance.now();
      const reading = documents.read(query, () => getEnveloped(context));
      occupiedMs = performance.now() - startMs;
      if (reading.isNew) onParsed(reading.isValid);
      if (reading.isValid) return { document: reading.document, paid };
      if (reading.isNew) account.deduct(rejectionCost(bytes, limits) - paid);
      throw reading.error;
    } finally {
      endTurn(occupiedMs);
    }
  }

  /** Variables that are rejected cost what a rejected document of the size of the body costs: the same errors are made. */
  function refuseVariables(
    execution: ExecutionResult,
    charged: { requestedQueryCost: number; paid: number; bodyBytes: number },
    account: CostAccount,
  ): OperationResult {
    const actualQueryCost = Math.max(rejectionCost(charged.bodyBytes, limits), charged.paid);
    const owed = actualQueryCost - charged.requestedQueryCost;
    if (owed > 0) account.deduct(owed);
    const throttleStatus = account.refund(Math.max(0, -owed));
    const requestedQueryCost = Math.max(charged.requestedQueryCost, actualQueryCost);
    return { execution, cost: { requestedQueryCost, actualQueryCost, throttleStatus } };
  }

  return {
    async run({ query, variables, operationName, bodyBytes }, context, account) {
      const cached = documents.find(query);
      const { document, paid } = cached ? { document: cached, paid: 0 } : await readNew(query, context, account);
      const operation = selectOperation(document, operationName);
      const { requestedQueryCost: largest, priceOf } = pricing.price(document, operation, variables);
      const least = bodyCost(bodyBytes, limits);
      const price = Math.max(largest, least);
      if (price > paid) await account.chargeOperation(price, paid);
      const requestedQueryCost = Math.max(price, paid);
      const leave = await account.slot().catch((error: unknown) => {
        account.refund(requestedQueryCost - paid);
        throw error;
      });
      const execution = await execute({ document, operation, variables, contextValue: context }, async (args) => {
        const enveloped = getEnveloped(context);
        return enveloped.execute({ ...args, contextValue: await enveloped.contextFactory() });
      }).finally(leave);
      if (execution.data === undefined)
        return refuseVariables(execution, { requestedQueryCost, paid, bodyBytes }, account);
      const actualQueryCost = Math.max(priceOf(execution.data), least, paid);
      const throttleStatus = account.refund(requestedQueryCost - actualQueryCost);
      return { execution, cost: { requestedQueryCost, actualQueryCost, throttleStatus } };
    },
  };
}
