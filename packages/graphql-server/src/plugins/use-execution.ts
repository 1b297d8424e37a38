import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { RequestError } from '../errors/request-error.ts';
import { createOperationExecutor, type OperationExecutor } from '../execution/execute-operation.ts';
import { invalidDocument } from '../operation/read-document.ts';
import { findOperation } from '../operation/select-operation.ts';
import { type OperationContextValue, present, type RequestPlugin } from './exchange.ts';

export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** Sets the execute function, which runs repeated operations by a plan. The plugins of the app wrap it, and `useCost` after them. */
export function useExecution(): RequestPlugin {
  // Created by the first operation on a schema, when plugins have wrapped its resolvers.
  const executors = new WeakMap<GraphQLSchema, OperationExecutor>();

  function executorOf(schema: GraphQLSchema): OperationExecutor {
    let executor = executors.get(schema);
    if (!executor) executors.set(schema, (executor = createOperationExecutor(schema)));
    return executor;
  }

  const execute: Execute = ({ schema, document, operationName, variableValues, contextValue }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as useCost has passed it
    const { exchange } = contextValue as OperationContextValue;
    const deadline = present(exchange.deadline);
    // The client has a response.
    if (deadline.isLate) throw new RequestError('OPERATION_TIMEOUT');
    const operation = findOperation(document, operationName ?? null);
    const variables = variableValues ?? {};
    if (document !== exchange.document) {
      // Of a plugin that passes another document on. The client pays for its own, but the limits are for both.
      const { documents, pricing } = present(exchange.version);
      const errors = documents.validate(document);
      if (errors.length > 0) throw invalidDocument(errors);
      pricing.price(document, operation, variables);
    }
    return executorOf(schema)({ document, operation, variables, contextValue, deadline });
  };

  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}
