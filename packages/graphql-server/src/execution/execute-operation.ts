import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { withPlaces } from '../errors/found-error.ts';
import type { OperationDeadline } from '../operation/deadline.ts';
import { countRowsOfPages } from './count-rows-of-pages.ts';
import { createPlanCache } from './plan-cache.ts';
import { runPlan } from './run-plan.ts';

export interface OperationToExecute {
  /** Valid. */
  document: DocumentNode;
  /** The operation of the document that runs. */
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
  contextValue: unknown;
  /** Gets the function that ends the execution. */
  deadline: OperationDeadline;
}

export type OperationExecutor = (operation: OperationToExecute) => ExecutionResult | Promise<ExecutionResult>;

/** Few, because each error prints the whole variable, which can have 100 kB. */
const maxCoercionErrors = 10;

/**
 * Executes operations; frequent ones use a cached plan. Changes the resolvers of connections in the schema: this has to
 * be the last one that does, after the plugins.
 */
export function createOperationExecutor(schema: GraphQLSchema): OperationExecutor {
  countRowsOfPages(schema);
  const plans = createPlanCache(schema);
  const noVariables = getVariableValues(schema, [], {});

  return (given) => {
    const { document, operation, variables, contextValue, deadline } = given;
    const definitions = operation.variableDefinitions ?? [];
    const coerced =
      definitions.length === 0
        ? noVariables
        : getVariableValues(schema, definitions, variables, { maxErrors: maxCoercionErrors });
    if (coerced.errors) return { errors: coerced.errors.map((error) => withPlaces(withoutSecret(error))) };
    const plan = plans.find(document, operation, coerced.variableValues.coerced);
    if (plan === null) return executeWithoutPlan(given);
    const { result, abort } = runPlan(plan, coerced.variableValues, contextValue);
    deadline.abort = abort;
    return result;
  };

  async function executeWithoutPlan({
    document,
    operation,
    variables,
    contextValue,
    deadline,
  }: OperationToExecute): Promise<ExecutionResult> {
    const controller = new AbortController();
    deadline.abort = () => controller.abort();
    const result = await execute({
      schema,
      document,
      contextValue,
      variableValues: variables,
      operationName: operation.name?.value,
      abortSignal: controller.signal,
    });
    result.errors?.forEach(withPlaces);
    return result;
  }
}

/** An error about a variable quotes what it found, which can contain a secret that has the wrong type. */
function withoutSecret(error: GraphQLError): GraphQLError {
  if (!/requestHeader|webhookSecret|WebhookRequestHeaderInput/.test(error.message)) return error;
  const message = error.message.replace(
    /(?:, found:|(?<=[.?]) Found:|(?<=cannot represent a non string value):) [^]*$/,
    '.',
  );
  return new GraphQLError(message, { nodes: error.nodes, originalError: error.originalError });
}
