import { type ActionContext, findPortalSession, recordPortalSessionUse } from '@deedwire/actions';
import { createAddressLimiter, requestsWithoutKey } from '@deedwire/auth';
import { type InterfaceName, interfaces } from '@deedwire/domain';
import { type Logger, requestPath } from '@deedwire/service-runtime';
import type { RequestAuthenticator } from '../authentication/authenticate-request.ts';
import { RequestError } from '../errors/request-error.ts';
import type { InterfaceConfig } from '../interface-config.ts';
import { LightResponse, stateOf } from '../plugins/light-fetch.ts';
import { type PortalRequest, present, type RequestPlugin, type RequestState } from '../plugins/request-state.ts';
import { refuse, toResponse } from '../plugins/use-response.ts';
import type { InterfaceVersion } from '../versions/serve-contract.ts';
import { findPages, readPages } from './assets.ts';
import { createSessionAuthenticator, type RefuseSession } from './authenticate-session.ts';
import { readDocuments } from './documents.ts';
import { createSessionRequests, wrongMethod } from './session-requests.ts';

export interface PortalOptions {
  interfaceName: InterfaceName;
  config: Pick<InterfaceConfig, 'NODE_ENV' | 'PORTAL' | 'PORTAL_ORIGIN'>;
  /** The folder of the built pages. Undefined: that of their package. */
  folder: string | undefined;
  versions: readonly InterfaceVersion[];
  actions: ActionContext;
  /** With connections that no client uses. */
  unprovenActions: ActionContext;
  /** With the share of a client. */
  actionsOf: (clientId: string) => ActionContext;
  bodyMs: number;
  logger: Logger;
}

/** Opened with what the handler creates. */
export interface Portal {
  origin: string;
  serve(authenticator: RequestAuthenticator): RequestPlugin;
}

/** Null if the portal is off: it has no origin, or its pages are not built. */
export async function openPortal(options: PortalOptions): Promise<Portal | null> {
  const { interfaceName, config, versions, logger } = options;
  const { PORTAL_ORIGIN: origin } = config;
  if (config.PORTAL === 'off') return null;
  if (origin === undefined) {
    if (config.NODE_ENV === 'production')
      logger.warn('the portal is not served: set PORTAL_ORIGIN, or set PORTAL to off');
    return null;
  }
  const folder = options.folder ?? findPages();
  const pages = folder === null ? null : await readPages(folder);
  if (pages === null) {
    logger.warn('the portal is not served: its pages are not built');
    return null;
  }
  const schemaOf = (wanted: string) => versions.find(({ version }) => version === wanted)?.schema;
  const documents = readDocuments(pages.documents, interfaceName, schemaOf);
  return { origin, serve: (authenticator) => usePortal({ ...options, origin, pages, documents, authenticator }) };
}

type UsePortalOptions = PortalOptions & {
  origin: string;
  pages: NonNullable<Awaited<ReturnType<typeof readPages>>>;
  documents: ReturnType<typeof readDocuments>;
  authenticator: RequestAuthenticator;
};

/**
 * Responds to the requests of the pages. Those with a document go on: they pass the same plugins as the requests of clients. Comes
 * first.
 */
function usePortal(options: UsePortalOptions): RequestPlugin {
  const { interfaceName, pages, documents, actions, unprovenActions, actionsOf, authenticator, logger } = options;
  const limiter = createAddressLimiter({ ...requestsWithoutKey, monotonicMs, maxSize: 10_000 });
  const refuseSession: RefuseSession = (reason, state, session = null) => {
    const kind = reason === 'rate_limited' ? 'rate_limited' : 'unauthenticated';
    const refusal = { reason, keyId: session?.keyId ?? null, clientId: session?.clientId ?? null };
    return authenticator.refuse({ kind, refusal }, state, noSession);
  };
  const shared = { ...options, limiter, refuse: refuseSession };
  const sessions = createSessionAuthenticator({
    ...shared,
    monotonicMs,
    findSession: (tokenHash, isProven) =>
      findPortalSession(isProven ? actions : unprovenActions, { tokenHash, interfaceName }),
    recordUse(session) {
      if (!session.isUseDue) return;
      // Requests at the same time share what was read.
      session.isUseDue = false;
      recordPortalSessionUse(actionsOf(session.clientId), session).catch((error: unknown) => {
        logger.warn({ err: error, session: session.id }, 'could not record the use of a session of the portal');
      });
    },
  });

  const { path: interfacePath } = interfaces[interfaceName];
  const base = new RegExp(String.raw`^${interfacePath}/portal/(\d{1,19})/(.*)$`);
  const respondToSession = createSessionRequests({ ...shared, sessions });

  const authenticate: PortalRequest['authenticate'] = (state) => sessions.authenticate(state);

  function requestOf(state: RequestState): PortalRequest | undefined {
    const [, organizationId, path = ''] = base.exec(requestPath(state.message)) ?? [];
    if (organizationId === undefined) return undefined;
    const parseParameters: PortalRequest['parseParameters'] = (body, { session }) =>
      documents.parseParameters(body, present(session));
    return { organizationId, path, version: documents.version, authenticate, parseParameters };
  }

  async function respond(state: RequestState, { organizationId, path }: PortalRequest): Promise<LightResponse> {
    if (path === 'session') return respondToSession(state, organizationId);
    if (state.message.method !== 'GET') throw wrongMethod('GET');
    if (!path.startsWith('assets/')) {
      const page = pages.index(`${interfacePath}/portal/${organizationId}/`);
      return new LightResponse(page, { headers: { 'Content-Type': 'text/html; charset=utf-8' } });
    }
    const asset = pages.asset(path.slice('assets/'.length));
    if (!asset) throw new RequestError('NOT_FOUND', { message: 'The portal has no such file.' });
    const headers = {
      'Content-Type': asset.contentType,
      // A build gives a changed file another name, except for the one that each release has.
      ...(path !== 'assets/reload.js' && { 'Cache-Control': 'public, max-age=31536000, immutable' }),
      Vary: 'Accept-Encoding',
    };
    return acceptsGzip.test(state.message.headers['accept-encoding']?.toString() ?? '')
      ? new LightResponse(asset.gzip, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
      : new LightResponse(asset.text, { headers });
  }

  return {
    onRequest(payload) {
      const state = stateOf(payload.request);
      state.portal = requestOf(state);
      if (!state.portal || state.portal.path === 'graphql') return undefined;
      payload.serverContext.requestState = state;
      return respond(state, state.portal)
        .then((response) => toResponse(response, state))
        .catch((error: unknown) => refuse(state, error))
        .then((response) => payload.endResponse(response));
    },
    onResponse({ serverContext: { requestState: state }, response }) {
      if (!state?.portal) return;
      for (const [name, value] of securityHeaders) response.headers.set(name, value);
    },
  };
}

/** A quality of 0 means that the client does not take it. */
const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

const monotonicMs = (): number => performance.now();

const noSession = 'The link or the session is not valid, or has ended. Open the portal with a new link.';

/** `X-Content-Type-Options` is in every response. A proxy adds `Strict-Transport-Security`. */
const securityHeaders = [
  [
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;
