import type { IncomingMessage } from 'node:http';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { ThrottleStatus } from '../cost/bucket.ts';
import type { EndTurn } from '../cost/client-turns.ts';
import { toPoints } from '../cost/operation-costs.ts';
import type { Pricing } from '../cost/operation-price.ts';
import { bodyCost, type ReadingCostLimits, readingCost, rejectionCost } from '../cost/reading-cost.ts';
import { createOperationExecutor } from '../execution/execute-operation.ts';
import { type Parameters, requireQuery } from '../transport/parameters.ts';
import type { DocumentLimits } from './document-limits.ts';
import { createDocuments } from './documents.ts';
import type { LoadedPlugins } from './load-plugins.ts';
import type { OperationPauses, Pausable } from './operation-pauses.ts';
import type { OperationSteps } from './plugin-hooks.ts';
import { readDocument, RejectedDocumentError } from './read-document.ts';
import { selectOperation } from './select-operation.ts';
import type { WorkContext } from './work-context.ts';

/** Runs operations on one schema. */
export interface OperationRunner {
  /**
   * Charges the largest cost of the operation, runs it, and refunds what its response did not cost, or deducts what it cost more.
   * A failed operation without a result keeps its charge, unless it got no slot. The extra work of its resolvers is deducted in
   * both cases; with it, an operation costs at most the limit.
   *
   * A document that is not cached is charged before it is parsed, because its price is not known earlier. Its operation costs at
   * least as much. A document that is rejected costs more.
   *
   * @throws {RequestError} if the operation is rejected before execution or times out.
   */
  run(request: OperationRequest, context: WorkContext, account: CostAccount): Promise<OperationResult>;
}

export interface OperationRequest {
  /** Its body has been read. */
  message: IncomingMessage;
  parameters: Parameters;
  bodyBytes: number;
}

/** The bucket of the client of a request. */
export interface CostAccount {
  /** Resolves when the client may occupy the process with a new document. */
  turn(): Promise<EndTurn>;
  /**
   * Returns a function that ends the operation, once the client may run it.
   *
   * @throws {RequestError} if others of its operations run for too long, or the client has gone.
   */
  slot(): (() => void) | Promise<() => void>;
  /** @throws {RequestError} if the bucket holds fewer points. */
  chargeReading(points: number): void | Promise<void>;
  /**
   * @param price what the operation costs if its document is cached
   * @param paid the part of the price that reading the document has paid
   * @throws {RequestError} if the bucket holds fewer points.
   */
  chargeOperation(price: number, paid: number): void | Promise<void>;
  /** Takes points even if the bucket holds fewer. */
  deduct(points: number): void;
  refund(points: number): ThrottleStatus;
  /** Returns points until the operation goes on. Charges of the client's other requests do not wait for it. */
  suspend(points: number): void;
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
  /**
   * The points charged in the end: the price of what the response contains, or those for reading the request if they are more.
   * More than `requestedQueryCost` only if texts have characters with several bytes, or resolvers did extra work.
   */
  actualQueryCost: number;
  /** The bucket after the refund. */
  throttleStatus: ThrottleStatus;
}

export interface OperationLimits extends DocumentLimits, ReadingCostLimits {
  /** The time limit for the execution of an operation. */
  operationMs: number;
}

export interface OperationRunnerOptions {
  schema: GraphQLSchema;
  pricing: Pricing;
  limits: OperationLimits;
  /** Null if there are none. */
  plugins: LoadedPlugins | null;
  /** Called for each document that was parsed because it was not cached. Must not throw. */
  onParsed: (isValid: boolean) => void;
}

/** @throws {Error} if a plugin cannot be used. */
export function createOperationRunner(options: OperationRunnerOptions): OperationRunner {
  const { schema, pricing, limits, onParsed } = options;
  const documents = createDocuments(schema, limits);
  const ownSteps: OperationSteps = {
    parse: documents.parse,
    validate: documents.validate,
    execute: (operation) => execute(operation),
  };
  const hooks = options.plugins?.createHooks(schema, ownSteps, limits) ?? null;
  // Plugins can wrap resolvers when they are created, and this has to be the last one that does.
  const execute = createOperationExecutor(schema, limits);

  /** Reads a document that is not cached. `paid` are the points charged for it. */
  async function readNew(query: string, steps: OperationSteps, account: CostAccount): Promise<PaidDocument> {
    const endTurn = await account.turn();
    let occupiedMs = 0;
    try {
      // Another request with the same document can have come first.
      if (documents.find(query)) return { document: readDocument(query, steps), paid: 0 };
      const bytes = Buffer.byteLength(query);
      const paid = readingCost(bytes, limits);
      await account.chargeReading(paid);
      const startMs = performance.now();
      try {
        const document = readDocument(query, steps);
        documents.keep(query, document);
        onParsed(true);
        return { document, paid };
      } catch (error) {
        if (error instanceof RejectedDocumentError && error.isNew) {
          onParsed(false);
          account.deduct(rejectionCost(bytes, limits) - paid);
        }
        throw error;
      } finally {
        occupiedMs = performance.now() - startMs;
      }
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
    const throttleStatus = settle(account, charged.requestedQueryCost, actualQueryCost);
    const requestedQueryCost = Math.max(charged.requestedQueryCost, actualQueryCost);
    return { execution, cost: { requestedQueryCost, actualQueryCost, throttleStatus } };
  }

  async function run(
    parameters: Parameters,
    bodyBytes: number,
    context: WorkContext,
    account: CostAccount,
    steps: OperationSteps,
  ): Promise<OperationResult> {
    const query = requireQuery(parameters);
    const { variables, operationName } = parameters;
    const cached = documents.find(query);
    const { document, paid } = cached
      ? { document: hooks ? readDocument(query, steps) : cached, paid: 0 }
      : await readNew(query, steps, account);
    const operation = selectOperation(document, operationName);
    const { requestedQueryCost: largest, priceOf } = pricing.price(document, operation, variables);
    const least = bodyCost(bodyBytes, limits);
    const price = Math.max(largest, least);
    const charged = price > paid ? account.chargeOperation(price, paid) : undefined;
    if (charged instanceof Promise) await charged;
    const requestedQueryCost = Math.max(price, paid);
    const slot = enter(account, requestedQueryCost - paid);
    const running = new RunningOperation(account, {
      leave: slot instanceof Promise ? await slot : slot,
      // What reading the request cost stays paid.
      suspended: requestedQueryCost - Math.max(least, paid),
      pauses: context.pauses,
    });
    const withExtraWork = (points: number): number =>
      Math.min(Math.max(points, limits.operationCostPoints), points + Math.ceil((context.extraWork?.cost ?? 0) / 1000));
    let execution: ExecutionResult;
    try {
      execution = await steps.execute({ document, operation, variables, contextValue: context });
    } catch (error) {
      running.end();
      settle(account, requestedQueryCost, withExtraWork(requestedQueryCost));
      throw error;
    }
    running.end();
    if (isAboutVariables(execution))
      return refuseVariables(execution, { requestedQueryCost, paid, bodyBytes }, account);
    const actualQueryCost = withExtraWork(Math.max(priceOf(execution.data, execution.errors), least, paid));
    const throttleStatus = settle(account, requestedQueryCost, actualQueryCost);
    return { execution, cost: { requestedQueryCost, actualQueryCost, throttleStatus } };
  }

  /** The cost of a result that a plugin has without an operation: a point for 1,000 bytes, as in the price of operations. */
  async function chargeResult(
    execution: ExecutionResult,
    bodyBytes: number,
    account: CostAccount,
  ): Promise<OperationCost> {
    const bytes = Buffer.byteLength(JSON.stringify(execution));
    const points = Math.max(Math.min(toPoints(bytes), limits.operationCostPoints), bodyCost(bodyBytes, limits));
    await account.chargeOperation(points, 0);
    return { requestedQueryCost: points, actualQueryCost: points, throttleStatus: account.refund(0) };
  }

  if (!hooks) {
    return {
      run: ({ parameters, bodyBytes }, context, account) => run(parameters, bodyBytes, context, account, ownSteps),
    };
  }
  return {
    async run(request, context, account) {
      let cost: OperationCost | undefined;
      const execution = await hooks.run(request, context, async (parameters, steps) => {
        const result = await run(parameters, request.bodyBytes, context, account, steps);
        cost = result.cost;
        return result.execution;
      });
      return { execution, cost: cost ?? (await chargeResult(execution, request.bodyBytes, account)) };
    },
  };
}

/** The slot and the points of an operation. While it waits, it holds neither. */
class RunningOperation implements Pausable {
  readonly #account: CostAccount;
  readonly #suspended: number;
  readonly #pauses: OperationPauses | undefined;
  /** Null while the operation has no slot. */
  #leave: (() => void) | null;
  #holdsPoints = true;
  #isOver = false;

  constructor(
    account: CostAccount,
    { leave, suspended, pauses }: { leave: () => void; suspended: number; pauses: OperationPauses | undefined },
  ) {
    this.#account = account;
    this.#leave = leave;
    this.#suspended = suspended;
    this.#pauses = pauses;
    pauses?.add(this);
  }

  pause(): void {
    this.#leaveSlot();
    this.#account.suspend(this.#suspended);
    this.#holdsPoints = false;
  }

  async resume(): Promise<void> {
    this.#takePoints();
    this.#leave = await this.#account.slot();
    if (this.#isOver) this.#leaveSlot();
  }

  end(): void {
    this.#isOver = true;
    this.#pauses?.end();
    this.#leaveSlot();
    this.#takePoints();
  }

  #leaveSlot(): void {
    this.#leave?.();
    this.#leave = null;
  }

  /** Also if the bucket holds fewer: the client then owes them, until the refund. */
  #takePoints(): void {
    if (!this.#holdsPoints) this.#account.deduct(this.#suspended);
    this.#holdsPoints = true;
  }
}

/** Refunds the charge of an operation that gets no slot. */
function enter(account: CostAccount, charged: number): (() => void) | Promise<() => void> {
  const refund = (error: unknown): never => {
    account.refund(charged);
    throw error;
  };
  try {
    const slot = account.slot();
    return slot instanceof Promise ? slot.catch(refund) : slot;
  } catch (error) {
    return refund(error);
  }
}

/** Refunds what was charged and not used, or takes what was used and not charged. */
function settle(account: CostAccount, charged: number, used: number): ThrottleStatus {
  if (used > charged) account.deduct(used - charged);
  return account.refund(Math.max(0, charged - used));
}

/** Errors of plugins have codes. */
function isAboutVariables({ data, errors = [] }: ExecutionResult): boolean {
  return data === undefined && errors.every(({ extensions }) => extensions['code'] === undefined);
}
