import type { IncomingMessage } from 'node:http';
import { type ActionContext, findPortalSession, recordPortalSessionUse } from '@deedwire/actions';
import { createAddressLimiter, requestsWithoutKey } from '@deedwire/auth';
import { type InterfaceName, interfaceOf } from '@deedwire/core';
import { type Logger, requestPath } from '@deedwire/service-runtime';
import type { RequestAuthenticator } from '../authentication/authenticate-request.ts';
import type { InterfaceConfig } from '../interface-config.ts';
import { type PortalRequest, type RequestState } from '../request-state.ts';
import type { InterfaceVersion } from '../versions/serve-contract.ts';
import { findPages, readPages } from './assets.ts';
import { createSessionAuthenticator, type RefuseSession } from './authenticate-session.ts';
import { readDocuments } from './documents.ts';
import { createMailPages } from './mail-pages.ts';
import { createPageServer } from './serve-pages.ts';
import { createSessionRequests } from './session-requests.ts';

export interface PortalOptions {
  interfaceName: InterfaceName;
  config: Pick<InterfaceConfig, 'DOCUMENTATION_URL' | 'NODE_ENV' | 'PORTAL' | 'PORTAL_ORIGIN'>;
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
  serve(authenticator: RequestAuthenticator): ReturnType<typeof servePortal>;
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
  const pages = folder === null ? null : await readPages(folder, options.actions.service);
  if (pages === null) {
    logger.warn('the portal is not served: its pages are not built');
    return null;
  }
  const documents = readDocuments(pages.documents, interfaceName, versions);
  return { origin, serve: (authenticator) => servePortal({ ...options, origin, pages, documents, authenticator }) };
}

type ServePortalOptions = PortalOptions & {
  origin: string;
  pages: NonNullable<Awaited<ReturnType<typeof readPages>>>;
  documents: ReturnType<typeof readDocuments>;
  authenticator: RequestAuthenticator;
};

function servePortal(options: ServePortalOptions) {
  const { interfaceName, pages, documents, actions, unprovenActions, actionsOf, authenticator, logger } = options;
  const limiter = createAddressLimiter({ ...requestsWithoutKey, monotonicMs, maxSize: 10_000 });
  const refuseSession: RefuseSession = (reason, state, { session, ...more } = {}) => {
    const kind = reason === 'rate_limited' ? 'rate_limited' : 'unauthenticated';
    const refusal = { reason, keyId: session?.keyId ?? null, clientId: session?.clientId ?? null, ...more };
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

  const ofInterface = interfaceOf(actions.service, interfaceName);
  const { path: interfacePath } = ofInterface;
  const base = new RegExp(String.raw`^${interfacePath}/portal/(\d{1,19})/(.*)$`);
  const pageServer = createPageServer(pages, interfacePath);
  const requestToSession = createSessionRequests({ ...shared, sessions });
  const mailPages = createMailPages(ofInterface, unprovenActions);

  function requestOf({ message }: RequestState): PortalRequest | undefined {
    const [, organizationId, path = ''] = base.exec(requestPath(message)) ?? [];
    if (organizationId === undefined) return undefined;
    return {
      organizationId,
      path,
      version: documents.version,
      authenticate: (state) => sessions.authenticate(state),
      limitRefusal: (state) => pageServer.limitRefusal(state),
      parseParameters: (body) => documents.parseParameters(body),
      ...(path === 'session' && requestToSession(message.method, organizationId)),
    };
  }

  return {
    /**
     * Ends a request for a page, a file or a link of a mail. Requests with a document and for a session go on: they take the same steps
     * as those of clients.
     *
     * @throws {RequestError} if the request is refused
     */
    respond(state: RequestState): Promise<void> | void {
      const mailAction = mailPages.actionOf(state);
      if (mailAction) {
        pageServer.limitRefusal(state);
        return mailPages.respond(state, mailAction);
      }
      state.portal = requestOf(state);
      if (state.portal) pageServer.respond(state, state.portal);
      else pageServer.lead(state);
    },

    /** The headers of a response, with those that protect the pages. */
    protect(message: IncomingMessage, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
      if (mailPages.actionOf({ message }))
        return { ...headers, ...pageServer.securityHeaders, ...mailPages.securityHeaders };
      const isOfPortal = requestPath(message).startsWith(`${interfacePath}/portal`);
      return isOfPortal ? { ...headers, ...pageServer.securityHeaders } : headers;
    },
  };
}

const monotonicMs = (): number => performance.now();

const noSession = 'The link or the session is not valid, or has ended. Open the portal with a new link.';
