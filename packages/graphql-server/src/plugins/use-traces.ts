import type { Tracing } from '@deedwire/service-runtime';
import { type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql';
import { mapFieldError } from '../errors/map-error.ts';
import type { OperationContext } from '../schema/operation-context.ts';
import type { InterfacePlugin } from './interface-plugin.ts';

/** The arguments of `onExecute` that are used, without the global types that those of Envelop need. */
interface ExecuteHook {
  args: ExecutionArgs & {
    contextValue: OperationContext & { request: { headers: { get(name: string): string | null } } };
  };
  executeFn: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
  setExecuteFn: (execute: (args: ExecutionArgs) => Promise<ExecutionResult>) => void;
}

/**
 * Makes a span of each operation that is executed. Events that it causes belong to its trace. Neither variables nor the document are
 * recorded, because they contain what clients write.
 */
export function useTraces(tracing: Tracing, interfaceName: string): InterfacePlugin {
  return {
    onExecute({ args, executeFn, setExecuteFn }: ExecuteHook) {
      const { caller, request } = args.contextValue;
      setExecuteFn(async (executed) => {
        const operation = getOperationAST(executed.document, executed.operationName);
        const type = operation?.operation ?? 'query';
        const name = operation?.name?.value;
        const span = tracing.start(name === undefined ? type : `${type} ${name}`, {
          kind: 'server',
          // A client must not decide what is recorded, nor add spans to a trace of others.
          linkedTo: request.headers.get('traceparent'),
          attributes: {
            'graphql.operation.type': type,
            ...(name !== undefined && { 'graphql.operation.name': name }),
            'deedwire.interface': interfaceName,
            'deedwire.client.id': caller.clientId,
            ...(caller.requestId !== undefined && { 'deedwire.request.id': caller.requestId }),
          },
        });
        if (span.traceParent !== undefined) caller.traceParent = span.traceParent;
        try {
          const result = await span.run(() => executeFn(executed));
          const [error] = result.errors ?? [];
          span.end(error && mapFieldError(error).code);
          return result;
        } catch (error) {
          span.end(error instanceof Error ? error.name : 'Error');
          throw error;
        }
      });
    },
  };
}
