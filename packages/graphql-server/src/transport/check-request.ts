import { requestPath } from '@deedwire/service-runtime';
import { RequestError } from '../errors/request-error.ts';
import type { RequestState } from '../request-state.ts';
import { checkHead } from './check-head.ts';
import { negotiateMediaType } from './response-media-type.ts';

/** Returns a function that checks the path, the head and the readiness. Before the credentials, because it is cheap. */
export function createRequestCheck({ path, bodyBytes }: { path: string; bodyBytes: number }) {
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

  /** @throws {RequestError} if the request is refused */
  return (state: RequestState): void => {
    try {
      check(state);
    } catch (error) {
      state.portal?.limitRefusal(state);
      throw error;
    }
  };
}
