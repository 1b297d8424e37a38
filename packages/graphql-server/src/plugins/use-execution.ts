import { type ExecutionArgs, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createOperationExecutor, type OperationExecutor } from '../execution/execute-operation.ts';
import { invalidDocument } from '../operation/read-document.ts';
import { findOperation, selectOperation } from '../operation/select-operation.ts';
import type { UseCounter } from '../use/use-counter.ts';
import { type OperationContextValue, present, type RequestPlugin } from './request-state.ts';

export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** What the functions of plugins pass on as they get it. The document can be another one. */
const keptArgs = ['schema', 'contextValue', 'operationName', 'variableValues'] as const;

/** Sets the execute function, which runs repeated operations by a plan. The plugins of the app wrap it, and `useCost` after them. */
export function useExecution(schema: GraphQLSchema, countUse: UseCounter['count']): RequestPlugin {
  // Created by the first operation, when plugins have wrapped the resolvers.
  let executor: OperationExecutor | undefined;

  const execute: Execute = (args) => {
    const { document, operationName = null, variableValues: variables = {}, contextValue } = args;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as useCost has passed it
    const { requestState: state } = contextValue as OperationContextValue;
    const { args: priced, deadline } = present(state.execution);
    // No error: one in a timer of a plugin would end the process.
    if (deadline.isLate) return { errors: [new GraphQLError('The operation is over.')] };
    const changed = keptArgs.find((name) => args[name] !== priced[name]);
    if (changed !== undefined)
      throw new Error(`A plugin passed another ${changed} to the execute function, which was not priced.`);
    let operation = findOperation(document, operationName);
    if (document !== state.document) {
      // Of a plugin that passes another document on. The client pays for its own, but the limits are for both.
      const { documents, pricing } = present(state.version);
      const errors = documents.validate(document);
      if (errors.length > 0) throw invalidDocument(errors);
      operation = selectOperation(document, operationName);
      pricing.price(document, operation, variables ?? {});
    }
    const { version, usedCoordinates } = present(state.version);
    for (const coordinate of usedCoordinates(document, operation))
      countUse(present(state.client).clientId, version, coordinate);
    executor ??= createOperationExecutor(schema);
    return executor({ document, operation, variables: variables ?? {}, contextValue, deadline });
  };

  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}
