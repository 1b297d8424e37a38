import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  getVariableValues,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { RequestError } from '../errors/request-error.ts';
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

/** Executes operations; frequent ones use a cached plan. Changes the resolvers of lists in the schema. */
export function createOperationExecutor(
  schema: GraphQLSchema,
  { operationMs }: { operationMs: number },
): OperationExecutor {
  readListsInResolvers(schema);
  const plans = createPlanCache(schema);

  return async ({ document, operation, variables, contextValue }) => {
    const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: maxCoercionErrors,
    });
    if (coerced.errors) return { errors: coerced.errors };
    const plan = plans.find(document, operation, coerced.variableValues.coerced);
    if (plan) {
      const { result, abort } = runPlan(plan, coerced.variableValues, contextValue);
      return result instanceof Promise ? withDeadline(result, operationMs, abort) : result;
    }

    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), operationMs);
    try {
      return await execute({
        schema,
        document,
        contextValue,
        variableValues: variables,
        operationName: operation.name?.value,
        fieldResolver: resolveProperty,
        abortSignal: deadline.signal,
      });
    } catch (error) {
      if (deadline.signal.aborted) throw new RequestError('OPERATION_TIMEOUT', { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Rejects after the deadline, although resolvers or plugins may still run. */
export function withDeadline<Result>(result: Promise<Result>, ms: number, abort: () => void): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => {
    abort();
    reject(new RequestError('OPERATION_TIMEOUT', { cause: new Error(`The operation ran for ${ms} ms.`) }));
  }, ms);
  // Fewer turns of the microtask queue than with Promise.race.
  void result.then(
    (settled) => {
      clearTimeout(timer);
      return resolve(settled);
    },
    (error: unknown) => {
      clearTimeout(timer);
      reject(error);
    },
  );
  return promise;
}
