import { bodyCost, readingCost, rejectionCost, toPoints } from '@deedwire/operation-analysis';
import { AccountAwayError } from '@deedwire/store';
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import type { EndTurn } from '../cost/client-slots.ts';
import { OperationCharge } from '../cost/operation-charge.ts';
import type { OperationCost } from '../cost/request-account.ts';
import { ClientGoneError } from '../errors/request-error.ts';
import { type OperationDeadline, withDeadline } from '../operation/deadline.ts';
import { invalidDocument, RejectedDocumentError } from '../operation/read-document.ts';
import { selectOperation } from '../operation/select-operation.ts';
import type { RequestLimits } from '../request-limits.ts';
import { readParameters, requireQuery } from '../transport/parameters.ts';
import { type RequestState, type OperationContextValue, present, type RequestPlugin } from './request-state.ts';
import type { Execute } from './use-execution.ts';
import { failureOf, singleResult } from './use-response.ts';

/**
 * Charges the largest cost of an operation, runs it until its deadline, and settles the charge against the actual cost. A failed
 * operation without a result keeps its charge, unless it got no slot. The extra work of its resolvers is charged in both cases; with
 * it, an operation costs at most the limit.
 *
 * A document that is not cached is charged before it is parsed, because its price is not known earlier. Its operation costs at
 * least as much. A document that is rejected costs more.
 *
 * Comes after the plugins of the app: it charges what they leave, and the deadline covers their functions too.
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
    const { document, operationName } = args;
    const { pricing, schema } = present(state.version);
    if (document !== state.document || args.schema !== schema)
      throw new Error(
        'A plugin replaced the document or the schema of onExecute. Replace the document in onParse: it is validated after that.',
      );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Yoga has built it
    const { pauses, extraWork } = args.contextValue as OperationContextValue;
    const account = present(state.account);
    const { bodyBytes, paid } = state;
    const operation = selectOperation(document, operationName ?? null);
    if (operation.operation === 'mutation' && state.client?.away) {
      account.refund(paid);
      throw new AccountAwayError();
    }
    const { requestedQueryCost: largest, priceOf } = pricing.price(document, operation, args.variableValues ?? {});
    const reading = Math.max(bodyCost(bodyBytes, limits), paid);
    const charged = Math.max(largest, reading);
    const admitted = charged > paid ? account.charge('operation', charged - paid, charged) : undefined;
    if (admitted instanceof Promise) await admitted;
    let leaveSlot: () => void;
    try {
      const slot = account.slot();
      leaveSlot = slot instanceof Promise ? await slot : slot;
    } catch (error) {
      account.refund(charged - paid);
      throw error;
    }
    const charge = new OperationCharge(account, leaveSlot, { charged, reading });
    pauses?.add(charge);
    const withExtraWork = (points: number): number =>
      Math.min(Math.max(points, limits.operationCostPoints), points + Math.ceil((extraWork?.cost ?? 0) / 1000));
    const deadline: OperationDeadline = { isLate: false, abort: null };
    state.execution = { args, deadline };
    let result: ExecutionResult;
    let cost: Omit<OperationCost, 'throttleStatus'>;
    try {
      const executed = withDeadline('The operation', limits.operationMs, () => execute(args), { deadline, pauses });
      result = singleResult(executed instanceof Promise ? await executed : executed);
      if (isAboutVariables(result)) {
        // They cost what a rejected document of the size of the body costs: the same errors are made.
        const used = Math.max(rejectionCost(bodyBytes, limits), paid);
        cost = { requestedQueryCost: Math.max(charged, used), actualQueryCost: used };
      } else {
        // The account was frozen since its key was read.
        const isAway = result.errors?.some(({ originalError }) => originalError instanceof AccountAwayError) ?? false;
        const used = isAway ? 0 : withExtraWork(Math.max(priceOf(result.data, result.errors), reading));
        cost = { requestedQueryCost: charged, actualQueryCost: used };
      }
    } catch (error) {
      charge.end(withExtraWork(charged));
      throw error;
    } finally {
      deadline.isLate = true;
      pauses?.end();
    }
    state.cost = { ...cost, throttleStatus: charge.end(cost.actualQueryCost) };
    return { ...result, extensions: { ...result.extensions, cost: state.cost } };
  }

  /** The cost of a result that a plugin has without an operation: a point for 1,000 bytes, as in the price of operations. */
  async function chargeResult(result: ExecutionResult, state: RequestState): Promise<void> {
    const account = present(state.account);
    const { bodyBytes, paid } = state;
    const size = toPoints(Buffer.byteLength(JSON.stringify(result)));
    const points = Math.max(Math.min(size, limits.operationCostPoints), bodyCost(bodyBytes, limits), paid);
    if (points > paid) await account.charge('operation', points - paid, points);
    state.cost = { requestedQueryCost: points, actualQueryCost: points, throttleStatus: account.refund(0) };
  }

  return {
    onParams({ params, context }) {
      // Yoga makes a context for each member of a batch.
      if (!Object.hasOwn(context, 'requestState')) throw new Error('A plugin replaced the parameters by a batch.');
      const { requestState: state } = context;
      const query = requireQuery(params);
      if (params !== state.params) readParameters({ ...params });
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
      const failure = failureOf(single);
      endReading(state, failure instanceof RejectedDocumentError && failure.isNew);
      return state.cost || failure ? undefined : chargeResult(single, state);
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
