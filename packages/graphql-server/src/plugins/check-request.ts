import type { Exchange, RequestPlugin } from './exchange.ts';
import { exchangeOf } from './light-fetch.ts';
import { refuse } from './use-response.ts';

/** A hook that refuses requests with what it throws. Yoga does not catch the errors of `onRequest`. */
export function checkRequest(
  check: (exchange: Exchange) => void | Promise<void>,
): NonNullable<RequestPlugin['onRequest']> {
  return (payload) => {
    const exchange = exchangeOf(payload.request);
    payload.serverContext.exchange = exchange;
    const end = (error: unknown): void => payload.endResponse(refuse(exchange, error));
    try {
      return check(exchange)?.catch(end);
    } catch (error) {
      return end(error);
    }
  };
}
