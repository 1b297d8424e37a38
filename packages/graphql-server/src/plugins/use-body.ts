import { present } from '../request-state.ts';
import { parseParameters } from '../transport/parameters.ts';
import { readBody } from '../transport/read-body.ts';
import { stateOf } from './light-fetch.ts';
import type { RequestPlugin } from './request-plugin.ts';

/**
 * Reads the body and the parameters in it, unless the client is known to have no points. Replaces the parsers of Yoga. The first
 * plugin of a version, so that those of the app find the state of the request.
 */
export function useBody(limits: { bodyBytes: number; bodyMs: number }): RequestPlugin {
  return {
    onRequest({ request, serverContext }) {
      serverContext.requestState = stateOf(request);
    },
    onRequestParse({ serverContext: { requestState: state }, setRequestParser }) {
      setRequestParser(async () => {
        const checked = present(state.account).checkPoints();
        if (checked !== undefined) await checked;
        state.http.acceptBody();
        const { text, bytes } = await readBody(state.message, limits);
        state.bodyBytes = bytes;
        return state.portal?.parseParameters(text) ?? parseParameters(text);
      });
    },
  };
}
