import { AccountAwayError } from '@deedwire/store';
import type { AuthenticatedRequest, RequestAuthenticator } from '../authentication/authenticate-request.ts';
import type { RefusalPace } from '../cost/refusal-pace.ts';
import { RequestAccount, type SharedByClients } from '../cost/request-account.ts';
import { RequestError } from '../errors/request-error.ts';
import type { RequestState, RequestPlugin } from './request-state.ts';
import { checkRequest } from './use-request-checks.ts';

export interface ClientOptions {
  authenticator: RequestAuthenticator;
  pace: RefusalPace;
  shared: SharedByClients;
}

/** Authenticates the client and opens its account, before the body is read and before the plugins of the app run. */
export function useClient({ authenticator, pace, shared }: ClientOptions): RequestPlugin {
  function accept(state: RequestState, { client, keyId, session }: AuthenticatedRequest): void {
    const { http } = state;
    state.client = client;
    state.keyId = keyId;
    state.session = session;
    state.account = new RequestAccount(shared, client, state);
    if (pace.isFull(client.clientId, performance.now())) {
      // A client that waits for responses never gets here.
      http.drop();
      state.isDropped = true;
      throw new RequestError('RATE_LIMITED');
    }
    const tooManyConnections = http.authenticated(client.clientId);
    if (tooManyConnections) throw new RequestError(tooManyConnections.code, tooManyConnections);
    if (client.away === 'FOREIGN') throw new AccountAwayError();
  }

  return {
    onRequest: checkRequest((state) => {
      // `probe.ts` has set it.
      if (state.client) return undefined;
      const authenticated = authenticateByKeyOrSession(authenticator, state);
      if (authenticated instanceof Promise) return authenticated.then((later) => accept(state, later));
      return accept(state, authenticated);
    }),
  };
}

/** @throws {CredentialsRefusedError} if the request has no valid credentials, or no valid session or link of the portal */
export function authenticateByKeyOrSession(
  authenticator: RequestAuthenticator,
  state: RequestState,
): AuthenticatedRequest | Promise<AuthenticatedRequest> {
  return state.portal ? state.portal.authenticate(state) : authenticator.authenticate(state.message, state);
}
