import { Deadlines } from '@deedwire/store';
import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  getVariableValues,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { withPlaces } from '../errors/found-error.ts';
import { RequestError } from '../errors/request-error.ts';
import { type OperationPauses, pausesOf } from '../operation/operation-pauses.ts';
import { countRowsOfPages } from './count-rows-of-pages.ts';
import { createPlanCache } from './plan-cache.ts';
import { readListsInResolvers, resolveProperty } from './read-lists.ts';
import { runPlan } from './run-plan.ts';

export interface OperationToExecute {
  /** Valid. */
  document: DocumentNode;
  /** The operation of the document that runs. */
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
  contextValue: unknown;
}

/** @throws {RequestError} `OPERATION_TIMEOUT` */
export type OperationExecutor = (operation: OperationToExecute) => Promise<ExecutionResult>;

/** Few, because each error prints the whole variable, which can have 100 kB. */
const maxCoercionErrors = 10;

/** Some schemas have several executors. */
const prepared = new WeakSet<GraphQLSchema>();

function prepareResolvers(schema: GraphQLSchema): void {
  if (prepared.has(schema)) return;
  prepared.add(schema);
  readListsInResolvers(schema);
  countRowsOfPages(schema);
}

/** Executes operations; frequent ones use a cached plan. Changes the resolvers of lists and connections in the schema. */
export function createOperationExecutor(
  schema: GraphQLSchema,
  { operationMs }: { operationMs: number },
): OperationExecutor {
  prepareResolvers(schema);
  const plans = createPlanCache(schema);
  const noVariables = getVariableValues(schema, [], {});
  const deadlines = new Deadlines(operationMs);

  return (given) => {
    const { document, operation, variables, contextValue } = given;
    const definitions = operation.variableDefinitions ?? [];
    const coerced =
      definitions.length === 0
        ? noVariables
        : getVariableValues(schema, definitions, variables, { maxErrors: maxCoercionErrors });
    if (coerced.errors) return Promise.resolve({ errors: coerced.errors.map(withPlaces) });
    const plan = plans.find(document, operation, coerced.variableValues.coerced);
    if (plan) {
      const { result, abort } = runPlan(plan, coerced.variableValues, contextValue);
      return result instanceof Promise
        ? withDeadline(result, deadlines, abort, pausesOf(contextValue))
        : Promise.resolve(result);
    }
    return executeWithoutPlan(given);
  };

  async function executeWithoutPlan({
    document,
    operation,
    variables,
    contextValue,
  }: OperationToExecute): Promise<ExecutionResult> {
    const deadline = new AbortController();
    const endDeadline = startDeadline(deadlines, () => deadline.abort(), pausesOf(contextValue));
    try {
      const result = await execute({
        schema,
        document,
        contextValue,
        variableValues: variables,
        operationName: operation.name?.value,
        fieldResolver: resolveProperty,
        abortSignal: deadline.signal,
      });
      result.errors?.forEach(withPlaces);
      return result;
    } catch (error) {
      if (deadline.signal.aborted) throw new RequestError('OPERATION_TIMEOUT', { cause: error });
      throw error;
    } finally {
      endDeadline();
    }
  }
}

/** Returns a function that ends the deadline. The time for which the operation waits does not count. */
function startDeadline(deadlines: Deadlines, onLate: () => void, pauses: OperationPauses | undefined): () => void {
  const deadline = deadlines.start(onLate);
  let { dueMs } = deadline;
  let timer: NodeJS.Timeout | undefined;
  let leftMs = 0;
  const end = (): void => {
    deadlines.end(deadline);
    clearTimeout(timer);
  };
  pauses?.add({
    pause() {
      leftMs = Math.max(0, dueMs - performance.now());
      end();
    },
    resume() {
      dueMs = performance.now() + leftMs;
      timer = setTimeout(onLate, leftMs);
    },
  });
  return end;
}

/** Rejects after the deadline, although resolvers or plugins may still run. */
export function withDeadline<Result>(
  result: Promise<Result>,
  deadlines: Deadlines,
  abort: () => void,
  pauses?: OperationPauses,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const onLate = (): void => {
    abort();
    reject(timeoutError('The operation', deadlines));
  };
  const endDeadline = startDeadline(deadlines, onLate, pauses);
  // Fewer turns of the microtask queue than with Promise.race.
  void result.then(
    (settled) => {
      endDeadline();
      return resolve(settled);
    },
    (error: unknown) => {
      endDeadline();
      reject(error);
    },
  );
  return promise;
}

/** @param what ran for too long */
export function timeoutError(what: string, { ms }: Deadlines): RequestError {
  return new RequestError('OPERATION_TIMEOUT', { cause: new Error(`${what} ran for ${ms} ms.`) });
}
