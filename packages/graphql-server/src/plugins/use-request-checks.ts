import { requestPath } from '@deedwire/service-runtime';
import { RequestError } from '../errors/request-error.ts';
import { checkHead } from '../transport/check-head.ts';
import { negotiateMediaType } from '../transport/response-media-type.ts';
import { checkRequest } from './check-request.ts';
import type { RequestPlugin } from './request-state.ts';

/** Refuses requests by their head: the path is exact, and the method is POST. Comes before the credentials, because it is cheap. */
export function useRequestChecks({ path, bodyBytes }: { path: string; bodyBytes: number }): RequestPlugin {
  const unknownPath = new RequestError('NOT_FOUND', {
    message: `This path does not exist. Send requests to ${path}.`,
  });
  return {
    onRequest: checkRequest((state) => {
      const { message, http } = state;
      const mediaType = negotiateMediaType(message.headers.accept);
      state.mediaType = mediaType ?? 'application/json';
      if (requestPath(message) !== path) throw unknownPath;
      checkHead(message, { bodyBytes });
      if (mediaType === null) throw new RequestError('NOT_ACCEPTABLE');
      if (!http.ready) throw new RequestError('SERVICE_UNAVAILABLE');
    }),
  };
}
