import { parseParameters } from '../transport/parameters.ts';
import { readBody } from '../transport/read-body.ts';
import { present, type RequestPlugin } from './exchange.ts';
import { exchangeOf } from './light-fetch.ts';

/**
 * Reads the body and the parameters in it, unless the client is known to have no points. Replaces the parsers of Yoga. The first
 * plugin of a version, so that those of the app find the exchange.
 */
export function useBody(limits: { bodyBytes: number; bodyMs: number }): RequestPlugin {
  return {
    onRequest({ request, serverContext }) {
      serverContext.exchange = exchangeOf(request);
    },
    onRequestParse({ serverContext: { exchange }, setRequestParser }) {
      setRequestParser(async () => {
        const checked = present(exchange.account).checkPoints();
        if (checked !== undefined) await checked;
        exchange.http.acceptBody();
        const { text, bytes } = await readBody(exchange.message, limits);
        exchange.bodyBytes = bytes;
        const params = parseParameters(text);
        exchange.params = params;
        return params;
      });
    },
  };
}
