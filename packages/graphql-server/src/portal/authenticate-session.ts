import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { PortalSession } from '@deedwire/actions';
import { type AddressLimiter, type AuthenticationRefusal, createKeyCache, maxCacheMs } from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/domain';
import type { AuthenticationRefused } from '../authentication/authenticate-request.ts';
import { isOfOrigin } from './origin.ts';

export interface SessionAuthenticatorOptions {
  interfaceName: InterfaceName;
  origin: string;
  /**
   * Reads the session whose token has this SHA-256. Null if none is live.
   *
   * @param isProven as for API keys
   */
  findSession: (tokenHash: string, isProven: boolean) => Promise<PortalSession | null>;
  /** Of requests without a valid session. */
  limiter: AddressLimiter;
  monotonicMs: () => number;
}

export type SessionResult = { kind: 'session'; session: PortalSession } | AuthenticationRefused;

/** A request that needs a session. */
export interface SessionRequest {
  message: IncomingMessage;
  /** For the limit of an address. */
  addressBlock: string;
  /** In the URL. */
  organizationId: string;
  /** It has to name the session that its page shows. */
  needsId: boolean;
}

/** Finds the session of a cookie. A session is cached for up to 900 ms; an unknown token never is. */
export function createSessionAuthenticator(options: SessionAuthenticatorOptions) {
  const { origin, findSession: find, limiter, monotonicMs } = options;
  const sessions = createKeyCache({ find, monotonicMs, maxAgeMs: maxCacheMs, maxSize: 10_000 });

  return function authenticate(request: SessionRequest): SessionResult | Promise<SessionResult> {
    const token = readCookie(request.message, cookieName(options));
    const known = typeof token === 'string' ? sessions.peek(hashOf(token)) : null;
    const isProven = known !== null && refusalOf(known.key, request) === null && isOfOrigin(request.message, origin);
    return known?.isFresh && isProven ? accept(known.key) : check(request, token, isProven);
  };

  async function check(request: SessionRequest, token: Cookie, isProven: boolean): Promise<SessionResult> {
    const { message, addressBlock } = request;
    if (!isProven && !limiter.take(addressBlock)) return refuse('rate_limited');
    if (!isOfOrigin(message, origin)) return refuse('cross_site');
    if (typeof token !== 'string') return refuse(token === null ? 'missing' : 'malformed');
    const session = await sessions.lookUp(hashOf(token), isProven).catch((error: unknown) => {
      if (!isProven) limiter.refund(addressBlock);
      throw error;
    });
    const reason = session === null ? 'unknown' : refusalOf(session, request);
    if (session === null || reason !== null) return refuse(reason ?? 'unknown', session);
    if (!isProven) limiter.refund(addressBlock);
    return accept(session);
  }
}

function refusalOf(session: PortalSession, request: SessionRequest): AuthenticationRefusal['reason'] | null {
  if (session.organizationId !== request.organizationId) return 'wrong_organization';
  const { 'x-portal-session': shown } = request.message.headers;
  return shown === session.id || (shown === undefined && !request.needsId) ? null : 'other_session';
}

function accept(session: PortalSession): SessionResult {
  return { kind: 'session', session };
}

export function refuse(
  reason: AuthenticationRefusal['reason'],
  session: PortalSession | null = null,
): AuthenticationRefused {
  const kind = reason === 'rate_limited' ? 'rate_limited' : 'unauthenticated';
  return { kind, refusal: { reason, keyId: session?.keyId ?? null, clientId: session?.client.clientId ?? null } };
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
