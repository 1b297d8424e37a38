import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { ContextOfOperation } from '../operation/operation-pauses.ts';
import type { RequestState } from '../request-state.ts';

/** What a plugin gets as `serverContext` and `context`. Resolvers get it too, with the context of the operation. */
export interface RequestContext {
  requestState: RequestState;
}

export type RequestPlugin = Plugin<RequestContext, RequestContext>;
export type OperationContextValue = RequestContext & ContextOfOperation & YogaInitialContext;
