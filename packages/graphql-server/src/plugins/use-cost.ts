import { bodyCost, readingCost, type ReadingCostLimits, rejectionCost, toPoints } from '@deedwire/operation-analysis';
import { Deadlines } from '@deedwire/store';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError } from 'graphql';
import type { ThrottleStatus } from '../cost/bucket.ts';
import type { RequestAccount } from '../cost/request-account.ts';
import { RequestError } from '../errors/request-error.ts';
import { type OperationDeadline, withDeadline } from '../operation/deadline.ts';
import type { OperationPauses } from '../operation/operation-pauses.ts';
import { invalidDocument, RejectedDocumentError } from '../operation/read-document.ts';
import { selectOperation } from '../operation/select-operation.ts';
import { readParameters, requireQuery } from '../transport/parameters.ts';
import { type Exchange, type OperationContextValue, present, type RequestPlugin } from './exchange.ts';
import type { Execute } from './use-execution.ts';
import { failureOf, singleResult } from './use-response.ts';

/**
 * Charges the largest cost of an operation, runs it until its deadline, and refunds what its response did not cost, or deducts what
 * it cost more. A failed operation without a result keeps its charge, unless it got no slot. The extra work of its resolvers is
 * deducted in both cases; with it, an operation costs at most the limit.
 *
 * A document that is not cached is charged before it is parsed, because its price is not known earlier. Its operation costs at
 * least as much. A document that is rejected costs more.
 *
 * Comes after the plugins of the app: it charges what they leave, and the deadline covers their functions too.
 */
export function useCost(limits: ReadingCostLimits & { operationMs: number }): RequestPlugin {
  const deadlines = new Deadlines(limits.operationMs);

  /** Waits for the turn of the client, and charges a document that is not cached. */
  async function beginReading(query: string, exchange: Exchange): Promise<void> {
    const account = present(exchange.account);
    const end = await account.turn();
    // Another request with the same document can have come first.
    if (present(exchange.version).documents.find(query)) return end(0);
    const bytes = Buffer.byteLength(query);
    exchange.paid = readingCost(bytes, limits);
    try {
      if (!exchange.isOpen()) throw new RequestError('SERVICE_UNAVAILABLE');
      await account.chargeReading(exchange.paid);
    } catch (error) {
      end(0);
      throw error;
    }
    exchange.reading = { bytes, startMs: performance.now(), occupiedMs: 0, end };
    return undefined;
  }

  function endReading(exchange: Exchange, isRejected: boolean): void {
    const { reading } = exchange;
    if (!reading) return;
    exchange.reading = undefined;
    reading.end(reading.occupiedMs);
    if (isRejected) present(exchange.account).deduct(rejectionCost(reading.bytes, limits) - exchange.paid);
  }

  /** A plugin can skip validation, but prices and limits are for valid documents only. This costs a lookup. */
  function accept(exchange: Exchange): void {
    const { documents } = present(exchange.version);
    const document = present(exchange.document);
    const errors = documents.validate(document);
    if (errors.length > 0) throw invalidDocument(errors);
    endReading(exchange, false);
  }

  async function run(args: ExecutionArgs, exchange: Exchange, execute: Execute): Promise<ExecutionResult> {
    const { document, operationName } = args;
    const { pricing, schema } = present(exchange.version);
    if (document !== exchange.document || args.schema !== schema)
      throw new Error(
        'A plugin replaced the document or the schema of onExecute. Replace the document in onParse: it is validated after that.',
      );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Yoga has built it
    const context = args.contextValue as OperationContextValue;
    const account = present(exchange.account);
    const { paid, bodyBytes } = exchange;
    const operation = selectOperation(document, operationName ?? null);
    const { requestedQueryCost: largest, priceOf } = pricing.price(document, operation, args.variableValues ?? {});
    const least = bodyCost(bodyBytes, limits);
    const price = Math.max(largest, least);
    const charged = price > paid ? account.chargeOperation(price, paid) : undefined;
    if (charged instanceof Promise) await charged;
    const requestedQueryCost = Math.max(price, paid);
    const slot = enter(account, requestedQueryCost - paid);
    const end = holdSlot(account, context.pauses, {
      leave: slot instanceof Promise ? await slot : slot,
      // What reading the request cost stays paid.
      suspended: requestedQueryCost - Math.max(least, paid),
    });
    const withExtraWork = (points: number): number =>
      Math.min(Math.max(points, limits.operationCostPoints), points + Math.ceil((context.extraWork?.cost ?? 0) / 1000));
    const settleAt = (used: number): void => {
      const throttleStatus = settle(account, requestedQueryCost, used);
      exchange.cost = { requestedQueryCost, actualQueryCost: used, throttleStatus };
    };
    let result: ExecutionResult;
    const deadline: OperationDeadline = { isLate: false, abort: null };
    exchange.execution = { args, deadline };
    try {
      const executed = withDeadline('The operation', deadlines, () => execute(args), {
        deadline,
        pauses: context.pauses,
      });
      result = singleResult(executed instanceof Promise ? await executed : executed);
    } catch (error) {
      end();
      settle(account, requestedQueryCost, withExtraWork(requestedQueryCost));
      throw error;
    } finally {
      deadline.isLate = true;
    }
    end();
    if (isAboutVariables(result)) {
      // They cost what a rejected document of the size of the body costs: the same errors are made.
      settleAt(Math.max(rejectionCost(bodyBytes, limits), paid));
      const cost = present(exchange.cost);
      cost.requestedQueryCost = Math.max(cost.requestedQueryCost, cost.actualQueryCost);
    } else {
      settleAt(withExtraWork(Math.max(priceOf(result.data, result.errors), least, paid)));
    }
    return { ...result, extensions: { ...result.extensions, cost: exchange.cost } };
  }

  /** The cost of a result that a plugin has without an operation: a point for 1,000 bytes, as in the price of operations. */
  async function chargeResult(result: ExecutionResult, exchange: Exchange): Promise<void> {
    const account = present(exchange.account);
    const bytes = Buffer.byteLength(JSON.stringify(result));
    const points = Math.max(
      Math.min(toPoints(bytes), limits.operationCostPoints),
      bodyCost(exchange.bodyBytes, limits),
    );
    const { paid } = exchange;
    if (points > paid) await account.chargeOperation(points, paid);
    const cost = Math.max(points, paid);
    exchange.cost = { requestedQueryCost: cost, actualQueryCost: cost, throttleStatus: account.refund(0) };
  }

  return {
    onParams({ params, context }) {
      // Yoga makes a context for each member of a batch.
      if (!Object.hasOwn(context, 'exchange')) throw new Error('A plugin replaced the parameters by a batch.');
      const { exchange } = context;
      const query = requireQuery(params);
      if (params !== exchange.params) readParameters({ ...params });
      return present(exchange.version).documents.find(query) ? undefined : beginReading(query, exchange);
    },
    onParse({ context: { exchange } }) {
      if (exchange.reading) exchange.reading.startMs = performance.now();
      return () => occupy(exchange);
    },
    onValidate({ params: { documentAST }, context: { exchange } }) {
      exchange.document = documentAST;
      return ({ result }) => {
        occupy(exchange);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- graphql's and ours are
        if (result.length > 0) throw invalidDocument(result as GraphQLError[]);
        accept(exchange);
      };
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const { exchange } = args.contextValue;
      setExecuteFn((given: ExecutionArgs) => run(given, exchange, executeFn));
    },
    onResultProcess({ result, serverContext: { exchange } }) {
      const single = singleResult(result);
      const failure = failureOf(single);
      endReading(exchange, failure instanceof RejectedDocumentError && failure.isNew);
      return exchange.cost || failure ? undefined : chargeResult(single, exchange);
    },
  };
}

function occupy({ reading }: Exchange): void {
  if (reading) reading.occupiedMs = performance.now() - reading.startMs;
}

/** Refunds the charge of an operation that gets no slot. */
function enter(account: RequestAccount, charged: number): (() => void) | Promise<() => void> {
  const refund = (error: unknown): never => {
    account.refund(charged);
    account.end();
    throw error;
  };
  try {
    const slot = account.slot();
    return slot instanceof Promise ? slot.catch(refund) : slot;
  } catch (error) {
    return refund(error);
  }
}

/** The slot and the points of an operation. While it waits, it holds neither. Returns a function that ends the operation. */
function holdSlot(
  account: RequestAccount,
  pauses: OperationPauses | undefined,
  { leave, suspended }: { leave: () => void; suspended: number },
): () => void {
  let slot: (() => void) | null = leave;
  let holdsPoints = true;
  let isOver = false;
  const leaveSlot = (): void => {
    slot?.();
    slot = null;
  };
  /** Also if the bucket holds fewer: the client then owes them, until the refund. */
  const takePoints = (): void => {
    if (!holdsPoints) account.deduct(suspended);
    holdsPoints = true;
  };
  pauses?.add({
    pause() {
      leaveSlot();
      account.suspend(suspended);
      holdsPoints = false;
    },
    async resume() {
      takePoints();
      slot = await account.slot();
      if (isOver) leaveSlot();
    },
  });
  return () => {
    isOver = true;
    pauses?.end();
    leaveSlot();
    takePoints();
  };
}

/** Refunds what was charged and not used, or takes what was used and not charged. */
function settle(account: RequestAccount, charged: number, used: number): ThrottleStatus {
  if (used > charged) account.deduct(used - charged);
  return account.refund(Math.max(0, charged - used));
}

/** Errors of plugins have codes. */
function isAboutVariables({ data, errors = [] }: ExecutionResult): boolean {
  return data === undefined && errors.every(({ extensions }) => extensions['code'] === undefined);
}
