import { type ExecutionArgs, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createOperationExecutor, type OperationExecutor } from '../execution/execute-operation.ts';
import { findOperation } from '../operation/select-operation.ts';
import { present } from '../request-state.ts';
import type { UseCounter } from '../use/use-counter.ts';
import type { OperationContextValue, RequestPlugin } from './request-plugin.ts';

export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** Sets the execute function, which runs repeated operations by a plan. The plugins of the app wrap it, and `useCost` after them. */
export function useExecution(schema: GraphQLSchema, countUse: UseCounter['count']): RequestPlugin {
  // Created by the first operation, when plugins have wrapped the resolvers.
  let executor: OperationExecutor | undefined;

  const execute: Execute = (args) => {
    const { document, operationName = null, variableValues: variables, contextValue } = args;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Yoga has built it
    const { requestState: state } = contextValue as OperationContextValue;
    const deadline = present(state.deadline);
    // No error: one in a timer of a plugin would end the process.
    if (deadline.isLate) return { errors: [new GraphQLError('The operation is over.')] };
    const operation = findOperation(document, operationName);
    const { version, usedCoordinates } = present(state.version);
    for (const coordinate of usedCoordinates(document))
      countUse(present(state.caller).client.clientId, version, coordinate);
    executor ??= createOperationExecutor(schema);
    return executor({ document, operation, variables: variables ?? {}, contextValue, deadline });
  };

  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}
