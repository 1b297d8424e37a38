import {
  endOwnPortalSession,
  exchangePortalLink,
  findPortalLink,
  type ActionContext,
  type PortalSession,
} from '@deedwire/actions';
import type { AddressLimiter } from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/domain';
import { addressBlock } from '@deedwire/service-runtime';
import { RequestError } from '../errors/request-error.ts';
import { LightResponse } from '../plugins/light-fetch.ts';
import type { RequestState } from '../plugins/request-state.ts';
import { checkHead } from '../transport/check-head.ts';
import { parseMembers } from '../transport/parameters.ts';
import { readBody } from '../transport/read-body.ts';
import {
  cookieName,
  type createSessionAuthenticator,
  hashOf,
  readCookie,
  type RefuseSession,
} from './authenticate-session.ts';
import { isOfOrigin } from './origin.ts';

export interface SessionRequestsOptions {
  interfaceName: InterfaceName;
  origin: string;
  actionsOf: (clientId: string) => ActionContext;
  /** With connections that no client uses: anyone can send tokens. */
  unprovenActions: ActionContext;
  limiter: AddressLimiter;
  refuse: RefuseSession;
  sessions: ReturnType<typeof createSessionAuthenticator>;
  bodyMs: number;
}

const bodyBytes = 1_000;

/** Serves `<base>session`: POST exchanges a link, GET shows the session, and DELETE ends it. */
export function createSessionRequests(options: SessionRequestsOptions) {
  const { interfaceName, origin, actionsOf, unprovenActions, limiter, refuse, sessions, bodyMs } = options;
  const name = cookieName(options);

  async function start(state: RequestState, organizationId: string): Promise<LightResponse> {
    const { message, http, requestId, address } = state;
    const block = addressBlock(address);
    if (!limiter.take(block)) return refuse('rate_limited', state);
    if (!isOfOrigin(message, origin)) return refuse('cross_site', state);
    checkHead(message, { bodyBytes });
    http.acceptBody();
    const { text } = await readBody(message, { bodyBytes, bodyMs });
    const given = { link: readToken(text), organizationId, interfaceName };
    // Only this statement: an exchange waits for others of its account, and would occupy the few connections.
    const link = (await findPortalLink(unprovenActions, given)) ?? refuse('unknown', state);
    const earlier = readCookie(message, name);
    const earlierHash = typeof earlier === 'string' ? hashOf(earlier) : null;
    const exchanged = await exchangePortalLink(actionsOf(link.clientId), link, { earlierHash, requestId, address });
    const { session, token } = exchanged ?? refuse('unknown', state);
    limiter.refund(block);
    return show(session, { 'Set-Cookie': setCookie(token, maxAgeSeconds) });
  }

  function setCookie(value: string, maxAge: number): string {
    const secure = origin.startsWith('https:') ? ' Secure;' : '';
    return `${name}=${value};${secure} HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}`;
  }

  return async (state: RequestState, organizationId: string): Promise<LightResponse> => {
    if (!state.http.ready) throw new RequestError('SERVICE_UNAVAILABLE');
    const { requestId, address, message } = state;
    switch (message.method) {
      case 'POST':
        return start(state, organizationId);
      case 'GET':
        return show(await sessions.authenticate(state));
      case 'DELETE': {
        const session = await sessions.authenticate(state);
        await endOwnPortalSession(actionsOf(session.clientId), session, { requestId, address });
        sessions.forget(state);
        return new LightResponse('', { status: 204, headers: { 'Set-Cookie': setCookie('', 0) } });
      }
      case undefined:
      default:
        throw wrongMethod('GET, POST, DELETE');
    }
  };
}

/** Undefined for another body: like all invalid links, it is refused with 401. */
function readToken(body: string): unknown {
  try {
    return parseMembers(body)['token'];
  } catch {
    return undefined;
  }
}

export function wrongMethod(allowed: string): RequestError {
  const message = `This method is not allowed. Use ${allowed}.`;
  return new RequestError('METHOD_NOT_ALLOWED', { message, headers: { Allow: allowed } });
}

/** In the database, the times that a session can be idle and live. The clock of this machine can differ. */
const [idleSeconds, maxAgeSeconds] = [1800, 28_800];

function show(session: PortalSession, headers: Record<string, string> = {}): LightResponse {
  const { id, interfaceName, account, abilities, actor, returnUrl, subscriptionId, expiresAt } = session;
  const body = { id, interface: interfaceName, account, abilities, actor, returnUrl, subscriptionId, expiresAt };
  return LightResponse.json(
    { ...body, idleSeconds },
    { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' } },
  );
}
