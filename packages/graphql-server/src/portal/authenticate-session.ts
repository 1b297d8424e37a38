import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { PortalSession } from '@deedwire/actions';
import {
  addressBlock,
  type AddressLimiter,
  type AuthenticationRefusal,
  createKeyCache,
  maxCacheMs,
} from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/core';
import { AccountAwayError } from '@deedwire/store';
import type { AuthenticatedRequest } from '../authentication/authenticate-request.ts';
import { present, type RequestState } from '../request-state.ts';
import { findForeign } from './origin.ts';

type Reason = AuthenticationRefusal['reason'];

/** Logs why a request has no valid session. The response does not say it. */
export type RefuseSession = (
  reason: Reason,
  state: RequestState,
  more?: { session?: PortalSession | null; foreign?: AuthenticationRefusal['foreign'] },
) => never;

export interface SessionAuthenticatorOptions {
  interfaceName: InterfaceName;
  origin: string;
  /**
   * Reads the session whose token has this SHA-256. Null if none is live.
   *
   * @param isProven as for API keys
   */
  findSession: (tokenHash: string, isProven: boolean) => Promise<PortalSession | null>;
  /** Called for accepted operations. */
  recordUse: (session: PortalSession) => void;
  /** Of requests without a valid session. */
  limiter: AddressLimiter;
  refuse: RefuseSession;
  monotonicMs: () => number;
}

/** Finds the session of a cookie. A session is cached for up to 900 ms, unless its account is frozen or elsewhere; an unknown token never is. */
export function createSessionAuthenticator(options: SessionAuthenticatorOptions) {
  const { origin, findSession: find, recordUse, limiter, refuse, monotonicMs } = options;
  const sessions = createKeyCache({ find, monotonicMs, maxAgeMs: maxCacheMs, maxSize: 10_000 });

  return {
    authenticate(state: RequestState): AuthenticatedRequest | Promise<AuthenticatedRequest> {
      const token = readCookie(state.message, cookieName(options));
      const known = typeof token === 'string' ? sessions.peek(hashOf(token)) : null;
      const isProven =
        known !== null && refusalOf(known.key, state) === null && findForeign(state.message, origin) === null;
      if (known?.isFresh && isProven && !known.key.away) return accept(known.key, state);
      return check(state, token, isProven).then((session) => accept(session, state));
    },

    /** Forgets the session of a request, which has ended. */
    forget({ message }: RequestState): void {
      sessions.forget(hashOf(readCookie(message, cookieName(options)) ?? ''));
    },
  };

  async function check(state: RequestState, token: Cookie, isProven: boolean): Promise<PortalSession> {
    const block = addressBlock(state.address);
    if (!isProven && !limiter.take(block)) return refuse('rate_limited', state);
    const foreign = findForeign(state.message, origin);
    if (foreign !== null) return refuse('cross_site', state, { foreign });
    if (typeof token !== 'string') return refuse(token === null ? 'missing' : 'malformed', state);
    const session = await sessions.lookUp(hashOf(token), isProven).catch((error: unknown) => {
      if (!isProven) limiter.refund(block);
      throw error;
    });
    const reason = session === null ? 'unknown' : refusalOf(session, state);
    if (session === null || reason !== null) return refuse(reason ?? 'unknown', state, { session });
    if (!isProven) limiter.refund(block);
    if (session.away === 'FOREIGN') throw new AccountAwayError();
    return session;
  }

  function accept(session: PortalSession, state: RequestState): AuthenticatedRequest {
    // Pages ask by themselves whether their session is live: that must not prolong it.
    if (isOperation(state)) recordUse(session);
    return { client: session.client, keyId: session.keyId ?? undefined, abilities: session.abilities, session };
  }
}

function isOperation({ portal }: RequestState): boolean {
  return present(portal).path === 'graphql';
}

/** The page of a request with a document names the session that it shows. */
function refusalOf(session: PortalSession, state: RequestState): Reason | null {
  if (session.organizationId !== present(state.portal).organizationId) return 'wrong_organization';
  const { 'x-portal-session': shown } = state.message.headers;
  return shown === session.id || (shown === undefined && !isOperation(state)) ? null : 'other_session';
}

/** A browser sends a `__Host-` cookie only to this host, and takes it only over HTTPS. */
export function cookieName({ interfaceName, origin }: { interfaceName: InterfaceName; origin: string }): string {
  return `${origin.startsWith('https:') ? '__Host-' : ''}deedwire-${interfaceName}-portal`;
}

/** Null: there is none. Undefined: it is repeated, or no token. */
type Cookie = string | null | undefined;

export function readCookie({ headers }: IncomingMessage, name: string): Cookie {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const [value = null, ...others] = pairs.filter((pair) => pair.startsWith(`${name}=`));
  if (value === null) return null;
  const token = value.slice(name.length + 1);
  return others.length === 0 && /^[\w-]{43}$/.test(token) ? token : undefined;
}

/** The SHA-256 of a token. */
export function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
