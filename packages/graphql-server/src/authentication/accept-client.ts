import { AccountAwayError } from '@deedwire/store';
import type { RefusalPace } from '../cost/refusal-pace.ts';
import { RequestAccount, type SharedByClients } from '../cost/request-account.ts';
import { RequestError } from '../errors/request-error.ts';
import type { RequestState } from '../request-state.ts';
import type { AuthenticatedRequest, RequestAuthenticator } from './authenticate-request.ts';

export interface ClientOptions {
  authenticator: RequestAuthenticator;
  pace: RefusalPace;
  shared: SharedByClients;
}

/** Returns a function that authenticates the client and opens its account. Before the body is read and plugins of the app run. */
export function createClientStep({ authenticator, pace, shared }: ClientOptions) {
  function accept(state: RequestState, caller: AuthenticatedRequest): void {
    const { http } = state;
    const { client } = caller;
    state.caller = caller;
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

  /** @throws {RequestError} if the request is refused */
  return (state: RequestState): void | Promise<void> => {
    const authenticated = authenticate(authenticator, state);
    return authenticated instanceof Promise
      ? authenticated.then((later) => accept(state, later))
      : accept(state, authenticated);
  };
}

/** @throws {CredentialsRefusedError} if the request has no valid credentials, or no valid session or link of the portal */
export function authenticate(
  authenticator: RequestAuthenticator,
  state: RequestState,
): AuthenticatedRequest | Promise<AuthenticatedRequest> {
  return state.portal ? state.portal.authenticate(state) : authenticator.authenticate(state.message, state);
}
