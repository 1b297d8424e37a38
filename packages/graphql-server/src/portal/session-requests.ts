import {
  endOwnPortalSession,
  exchangePortalLink,
  findPortalLink,
  type ActionContext,
  type PortalSession,
  type UnusedPortalLink,
} from '@deedwire/actions';
import { addressBlock, type AddressLimiter } from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/core';
import { LRUCache } from 'lru-cache';
import type { InterfaceConfig } from '../interface-config.ts';
import { LightResponse } from '../plugins/light-fetch.ts';
import { type PortalRequest, present, type RequestState } from '../request-state.ts';
import { end as endRequest, headersOf } from '../respond.ts';
import { checkHead } from '../transport/check-head.ts';
import { isRead } from '../transport/is-read.ts';
import { parseMembers } from '../transport/parameters.ts';
import { readBody } from '../transport/read-body.ts';
import {
  cookieName,
  type createSessionAuthenticator,
  hashOf,
  readCookie,
  type RefuseSession,
} from './authenticate-session.ts';
import { findForeign } from './origin.ts';

export interface SessionRequestsOptions {
  interfaceName: InterfaceName;
  config: Pick<InterfaceConfig, 'DOCUMENTATION_URL'>;
  origin: string;
  actionsOf: (clientId: string) => ActionContext;
  /** With connections that no client uses: anyone can send tokens. */
  unprovenActions: ActionContext;
  limiter: AddressLimiter;
  refuse: RefuseSession;
  sessions: ReturnType<typeof createSessionAuthenticator>;
  bodyMs: number;
}

/** How a request is authenticated, and its response once it has passed the limits of its client. */
export type SessionRequest = Required<Pick<PortalRequest, 'authenticate' | 'respond'>>;

const bodyBytes = 1_000;

/** What a mutation costs that writes one record, as `createPortalLink`. */
const writePoints = 12;

/** A page may look for its session as often as it is served: a point is charged once a minute. */
const readPoints = 1;
const readCharges = { ttl: 60_000, max: 10_000 };

/** Serves `<base>session`: POST exchanges a link, GET and HEAD show the session, and DELETE ends it. Undefined for other methods. */
export function createSessionRequests(options: SessionRequestsOptions) {
  const { interfaceName, config, origin, actionsOf, unprovenActions, limiter, refuse, sessions, bodyMs } = options;
  const name = cookieName(options);
  // A browser follows no link from a page to a file.
  const documentationUrl = /^https?:/.test(config.DOCUMENTATION_URL ?? '') ? config.DOCUMENTATION_URL : undefined;
  /** The sessions whose last charge for reading is less than a minute ago. */
  const charged = new LRUCache<string, true>(readCharges);

  function exchange(organizationId: string): SessionRequest {
    let found: UnusedPortalLink | undefined;
    return {
      async authenticate(state) {
        const { message, http, address } = state;
        const block = addressBlock(address);
        if (!limiter.take(block)) return refuse('rate_limited', state);
        const foreign = findForeign(message, origin);
        if (foreign !== null) return refuse('cross_site', state, { foreign });
        checkHead(message, { bodyBytes });
        http.acceptBody();
        const { text } = await readBody(message, { bodyBytes, bodyMs });
        const given = { link: readToken(text), organizationId, interfaceName };
        // Only this statement: an exchange waits for others of its account, and would occupy the few connections.
        found = (await findPortalLink(unprovenActions, given)) ?? refuse('unknown', state);
        limiter.refund(block);
        return { client: found.client, keyId: found.keyId ?? undefined, abilities: [] };
      },
      async respond(state) {
        const link = present(found);
        const { message, requestId, address } = state;
        await charge(state, writePoints);
        const earlier = readCookie(message, name);
        const earlierHash = typeof earlier === 'string' ? hashOf(earlier) : null;
        const request = { earlierHash, requestId, address };
        const exchanged = await exchangePortalLink(actionsOf(link.clientId), link, request);
        const { session, token } = exchanged ?? refuse('unknown', state);
        show(state, session, { 'Set-Cookie': setCookie(token) });
      },
    };
  }

  const read: SessionRequest = {
    authenticate: (state) => sessions.authenticate(state),
    async respond(state) {
      const session = present(present(state.caller).session);
      if (!charged.has(session.id)) {
        charged.set(session.id, true);
        await charge(state, readPoints).catch((error: unknown) => {
          charged.delete(session.id);
          throw error;
        });
      }
      show(state, session);
    },
  };

  const end: SessionRequest = {
    authenticate: (state) => sessions.authenticate(state),
    async respond(state) {
      const { requestId, address } = state;
      const session = present(present(state.caller).session);
      await charge(state, writePoints);
      await endOwnPortalSession(actionsOf(session.clientId), session, { requestId, address });
      sessions.forget(state);
      // The cookie stays, and is refused from now on: a response that is late would remove that of a session opened meanwhile.
      send(state, '', { status: 204, headers: {} });
    },
  };

  function show(state: RequestState, session: PortalSession, headers: Record<string, string> = {}): void {
    const { id, interfaceName: served, account, abilities, actor, returnUrl, subscriptionId } = session;
    const { keyClient, keyAbilities } = session;
    // How long, because the clock of the browser can differ.
    const { expiresAt, expiresInSeconds, idleEndsInSeconds } = session;
    const times = { expiresAt, expiresInSeconds, idleSeconds, idleEndsInSeconds };
    const shown = {
      id,
      interface: served,
      account,
      abilities,
      keyClient,
      keyAbilities,
      actor,
      returnUrl,
      subscriptionId,
    };
    const contentType = 'application/json; charset=utf-8';
    send(state, JSON.stringify({ ...shown, ...times, documentationUrl }), {
      headers: { ...headers, 'Content-Type': contentType },
    });
  }

  function setCookie(token: string): string {
    const secure = origin.startsWith('https:') ? ' Secure;' : '';
    return `${name}=${token};${secure} HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAgeSeconds}`;
  }

  return (method: string | undefined, organizationId: string): SessionRequest | undefined => {
    if (method === 'POST') return exchange(organizationId);
    if (isRead(method)) return read;
    return method === 'DELETE' ? end : undefined;
  };
}

/** Nothing of it is refunded. */
async function charge({ account }: RequestState, points: number): Promise<void> {
  await present(account).charge('operation', points);
  present(account).end();
}

/** Undefined for another body: like all invalid links, it is refused with 401. */
function readToken(body: string): unknown {
  try {
    return parseMembers(body)['token'];
  } catch {
    return undefined;
  }
}

/** In the database, the times that a session can be idle and live. The clock of this machine can differ. */
const [idleSeconds, maxAgeSeconds] = [1800, 28_800];

/** With the headers that every response to an authenticated request has. */
function send(state: RequestState, body: string, init: { status?: number; headers: Record<string, string> }): void {
  const headers = { ...init.headers, ...headersOf(state) };
  endRequest(state, new LightResponse(body, { ...init, headers }));
}
