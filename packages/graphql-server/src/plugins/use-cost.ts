import { bodyCost, readingCost, rejectionCost } from '@deedwire/operation-analysis';
import { AccountAwayError } from '@deedwire/store';
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import type { EndTurn } from '../cost/client-slots.ts';
import { ClientGoneError } from '../errors/request-error.ts';
import { type OperationDeadline, withDeadline } from '../operation/deadline.ts';
import { invalidDocument, RejectedDocumentError } from '../operation/read-document.ts';
import type { RequestLimits } from '../request-limits.ts';
import { present, type RequestState } from '../request-state.ts';
import { failureOf, singleResult } from '../respond.ts';
import { requireQuery } from '../transport/parameters.ts';
import type { RequestPlugin } from './request-plugin.ts';
import type { Execute } from './use-execution.ts';

/**
 * Charges a document that is not cached before it is parsed, because its price is not known earlier. A document that is rejected costs
 * more. Runs the operation in a slot until its deadline, and settles its charge against the actual cost. A failed operation without a
 * result keeps its charge, unless it got no slot. The extra work of its resolvers is charged in both cases; with it, an operation costs
 * at most the limit.
 *
 * Comes after the plugins of the app: it charges the document that they leave, and the deadline covers the functions that they set.
 */
export function useCost(limits: RequestLimits): RequestPlugin {
  /** Charges a document that is not cached, in a turn of its client. */
  async function beginReading(query: string, state: RequestState): Promise<void> {
    const account = present(state.account);
    let end = await turnToRead(query, state);
    if (end === null) return;
    const bytes = Buffer.byteLength(query);
    const points = readingCost(bytes, limits);
    const admitted = account.charge('document', points);
    if (admitted instanceof Promise) {
      // It waits for the database or for refunds, which occupies nothing.
      end(0);
      await admitted;
      end = await turnToRead(query, state);
      if (end === null) return void account.refund(points);
    }
    state.paid = points;
    state.reading = { bytes, startMs: performance.now(), occupiedMs: 0, end };
  }

  function endReading(state: RequestState, isRejected: boolean): void {
    const { reading } = state;
    if (!reading) return;
    state.reading = undefined;
    reading.end(reading.occupiedMs);
    if (isRejected) present(state.account).deduct(rejectionCost(reading.bytes, limits) - state.paid);
  }

  /** A plugin can skip validation, but prices and limits are for valid documents only. This costs a lookup. */
  function accept(state: RequestState): void {
    const errors = present(state.version).documents.validate(present(state.document));
    if (errors.length > 0) throw invalidDocument(errors);
    endReading(state, false);
  }

  async function run(args: ExecutionArgs, state: RequestState, execute: Execute): Promise<ExecutionResult> {
    const charge = present(state.charge);
    const { pauses } = present(state.context);
    const entered = charge.enter();
    if (entered) await entered;
    pauses?.add(charge);
    const deadline: OperationDeadline = { isLate: false, abort: null };
    state.deadline = deadline;
    try {
      const running = withDeadline('The operation', limits.operationMs, () => execute(args), { deadline, pauses });
      const result = singleResult(running instanceof Promise ? await running : running);
      // They cost what a rejected document of the size of the body costs: the same errors are made.
      if (isAboutVariables(result)) charge.rejected = Math.max(rejectionCost(state.bodyBytes, limits), state.paid);
      return result;
    } finally {
      deadline.isLate = true;
      pauses?.end();
      charge.leave();
    }
  }

  const withExtraWork = (points: number, { context }: RequestState): number =>
    Math.min(Math.max(points, limits.operationCostPoints), points + Math.ceil((context?.extraWork?.cost ?? 0) / 1000));

  function settle(result: ExecutionResult, hasFailed: boolean, state: RequestState): void | Promise<void> {
    const { charge } = state;
    if (charge === undefined) return hasFailed ? undefined : chargeResult(state);
    const { charged, reading } = charge.points;
    if (hasFailed) return void charge.end(withExtraWork(charged, state));
    // The account was frozen since its key was read.
    const isAway = result.errors?.some(({ originalError }) => originalError instanceof AccountAwayError) ?? false;
    const price = (): number => Math.max(charge.priceOf(result.data, result.errors), reading);
    const used = charge.rejected ?? (isAway ? 0 : withExtraWork(price(), state));
    const requestedQueryCost = Math.max(charged, charge.rejected ?? 0);
    state.cost = { requestedQueryCost, actualQueryCost: used, throttleStatus: charge.end(used) };
    return undefined;
  }

  /** A plugin has a result before an operation was charged. The client pays for its body. */
  async function chargeResult(state: RequestState): Promise<void> {
    const account = present(state.account);
    const points = Math.max(bodyCost(state.bodyBytes, limits), state.paid);
    if (points > state.paid) await account.charge('operation', points - state.paid, points);
    state.cost = { requestedQueryCost: points, actualQueryCost: points, throttleStatus: account.refund(0) };
  }

  return {
    onParams({ params, context: { requestState: state } }) {
      const query = requireQuery(params);
      return present(state.version).documents.find(query) ? undefined : beginReading(query, state);
    },
    onParse({ context: { requestState: state } }) {
      if (state.reading) state.reading.startMs = performance.now();
      return () => occupy(state);
    },
    onValidate({ params: { documentAST }, context: { requestState: state } }) {
      state.document = documentAST;
      return ({ result }) => {
        occupy(state);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- graphql's and ours are
        if (result.length > 0) throw invalidDocument(result as GraphQLError[]);
        accept(state);
      };
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const { requestState: state } = args.contextValue;
      setExecuteFn((given: ExecutionArgs) => run(given, state, executeFn));
    },
    onResultProcess({ result, serverContext: { requestState: state } }) {
      const single = singleResult(result);
      const failure = failureOf(single, state);
      endReading(state, failure instanceof RejectedDocumentError && failure.isNew);
      return settle(single, failure !== null, state);
    },
  };
}

/** Waits for the turn of the client. Null if another request has read the document meanwhile. */
async function turnToRead(query: string, state: RequestState): Promise<EndTurn | null> {
  const end = await present(state.account).turn();
  const isRead = Boolean(present(state.version).documents.find(query));
  if (!isRead && state.isOpen()) return end;
  end(0);
  if (isRead) return null;
  throw new ClientGoneError();
}

function occupy({ reading }: RequestState): void {
  if (reading) reading.occupiedMs = performance.now() - reading.startMs;
}

/** Errors of plugins have codes. */
function isAboutVariables({ data, errors = [] }: ExecutionResult): boolean {
  return data === undefined && errors.every(({ extensions }) => extensions['code'] === undefined);
}
