import type { AuthenticatedRequest, RequestAuthenticator } from '../authentication/authenticate-request.ts';
import type { RefusalPace } from '../cost/refusal-pace.ts';
import { RequestAccount, type SharedByClients } from '../cost/request-account.ts';
import { RequestError } from '../errors/request-error.ts';
import { checkRequest } from './check-request.ts';
import type { Exchange, RequestPlugin } from './exchange.ts';

export interface ClientOptions {
  authenticator: RequestAuthenticator;
  pace: RefusalPace;
  shared: SharedByClients;
}

/** Authenticates the client and opens its account, before the body is read and before the plugins of the app run. */
export function useClient({ authenticator, pace, shared }: ClientOptions): RequestPlugin {
  function accept(exchange: Exchange, { client, keyId }: AuthenticatedRequest): void {
    const { http } = exchange;
    exchange.client = client;
    exchange.keyId = keyId;
    exchange.account = new RequestAccount(shared, client, exchange);
    if (pace.isFull(client.clientId, performance.now())) {
      // A client that waits for responses never gets here.
      http.drop();
      exchange.isDropped = true;
      throw new RequestError('RATE_LIMITED');
    }
    const tooManyConnections = http.authenticated(client.clientId);
    if (tooManyConnections) throw new RequestError(tooManyConnections.code, tooManyConnections);
  }

  return {
    onRequest: checkRequest((exchange) => {
      // The probe at the start.
      if (exchange.client) return undefined;
      const authenticated = authenticator.authenticate(exchange.message, exchange);
      if (authenticated instanceof Promise) return authenticated.then((later) => accept(exchange, later));
      return accept(exchange, authenticated);
    }),
  };
}
