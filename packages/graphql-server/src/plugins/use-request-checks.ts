import { requestPath } from '@deedwire/service-runtime';
import { RequestError } from '../errors/request-error.ts';
import { checkHead } from '../transport/check-head.ts';
import { negotiateMediaType } from '../transport/response-media-type.ts';
import { stateOf } from './light-fetch.ts';
import type { RequestPlugin, RequestState } from './request-state.ts';
import { refuse } from './use-response.ts';

/**
 * Refuses requests by their head: the path is exact, or that of the portal, and the method is POST, except for the session of the
 * portal. Comes before the credentials, because it is cheap.
 */
export function useRequestChecks({ path, bodyBytes }: { path: string; bodyBytes: number }): RequestPlugin {
  const unknownPath = new RequestError('NOT_FOUND', {
    message: `This path does not exist. Send requests to ${path}.`,
  });

  function check(state: RequestState): void {
    const { message, http } = state;
    const mediaType = negotiateMediaType(message.headers.accept);
    state.mediaType = mediaType ?? 'application/json';
    if (requestPath(message) !== path && !state.portal) throw unknownPath;
    if (!state.portal?.respond) checkHead(message, { bodyBytes });
    if (mediaType === null) throw new RequestError('NOT_ACCEPTABLE');
    if (!http.ready) throw new RequestError('SERVICE_UNAVAILABLE');
  }

  return {
    onRequest: checkRequest((state) => {
      try {
        check(state);
      } catch (error) {
        state.portal?.limitRefusal(state);
        throw error;
      }
    }),
  };
}

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
