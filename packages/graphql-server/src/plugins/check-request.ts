import { stateOf } from './light-fetch.ts';
import type { RequestState, RequestPlugin } from './request-state.ts';
import { refuse } from './use-response.ts';

/** A hook that refuses requests with what it throws. Yoga does not catch the errors of `onRequest`. */
export function checkRequest(
  check: (state: RequestState) => void | Promise<void>,
): NonNullable<RequestPlugin['onRequest']> {
  return (payload) => {
    const state = stateOf(payload.request);
    payload.serverContext.requestState = state;
    const end = (error: unknown): void => payload.endResponse(refuse(state, error));
    try {
      return check(state)?.catch(end);
    } catch (error) {
      return end(error);
    }
  };
}
