import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getVariableValues,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { RequestError } from '../errors/request-error.ts';
import { createPlanCache } from './plan-cache.ts';
import { readListsInResolvers, resolveProperty } from './read-lists.ts';
import { type RunningPlan, runPlan } from './run-plan.ts';

export interface OperationToExecute {
  /** Valid. */
  document: DocumentNode;
  /** The operation of the document that runs. */
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
  contextValue: unknown;
}

/** Executes without a plan. */
export type Interpreter = (args: ExecutionArgs) => Promise<ExecutionResult>;

/** @throws {RequestError} `OPERATION_TIMEOUT` */
export type OperationExecutor = (operation: OperationToExecute, interpret: Interpreter) => Promise<ExecutionResult>;

/** Few, because each error prints the whole variable, which can have 100 kB. */
const maxCoercionErrors = 10;

/** Executes operations; frequent ones use a cached plan. Changes the resolvers of lists in the schema. */
export function createOperationExecutor(
  schema: GraphQLSchema,
  { operationMs }: { operationMs: number },
): OperationExecutor {
  readListsInResolvers(schema);
  const plans = createPlanCache(schema);

  return async ({ document, operation, variables, contextValue }, interpret) => {
    const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: maxCoercionErrors,
    });
    if (coerced.errors) return { errors: coerced.errors };
    const plan = plans.find(document, operation, coerced.variableValues.coerced);
    if (plan) return withDeadline(runPlan(plan, coerced.variableValues, contextValue), operationMs);

    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), operationMs);
    try {
      return await interpret({
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

/** Rejects after the deadline, although resolvers may still run. */
function withDeadline({ result, abort }: RunningPlan, ms: number): ExecutionResult | Promise<ExecutionResult> {
  if (!(result instanceof Promise)) return result;
  const { promise, resolve, reject } = Promise.withResolvers<ExecutionResult>();
  const timer = setTimeout(() => {
    abort();
    reject(new RequestError('OPERATION_TIMEOUT', { cause: new Error(`The operation ran for ${ms} ms.`) }));
  }, ms);
  // Fewer turns of the microtask queue than with Promise.race. The errors of fields are part of the result.
  void result.then((executed) => {
    clearTimeout(timer);
    return resolve(executed);
  }, reject);
  return promise;
}
