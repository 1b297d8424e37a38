import { addressBlock, createAddressLimiter } from '@deedwire/auth';
import { findPortalPage } from '@deedwire/core/portal-paths';
import { requestPath } from '@deedwire/service-runtime';
import { RequestError } from '../errors/request-error.ts';
import { wrongMethod } from '../errors/wrong-method.ts';
import { LightResponse } from '../plugins/light-fetch.ts';
import type { PortalRequest, RequestState } from '../request-state.ts';
import { end } from '../respond.ts';
import { acceptsHtml } from '../transport/accepts-html.ts';
import { isRead } from '../transport/is-read.ts';
import type { PortalPages } from './assets.ts';

/** For each address. The first load of a page takes about ten. */
const pageRequests = { atOnce: 200, perSecond: 20 };

const tooMany = new RequestError('RATE_LIMITED', {
  message: `This address has requested more than ${pageRequests.atOnce} pages and files of the portal, which are restored at ${pageRequests.perSecond} per second. Retry after the time in the Retry-After header.`,
});

/**
 * Serves the pages and their files. They need no session, so they are limited per address; so are the session that a page asks for, and
 * what is refused before its client is known.
 */
export function createPageServer(pages: PortalPages, interfacePath: string) {
  const limiter = createAddressLimiter({ ...pageRequests, monotonicMs: () => performance.now(), maxSize: 10_000 });

  const basePattern = new RegExp(String.raw`^${interfacePath}/portal(?:$|/(\d{1,19}$)?)`);

  function sendPage(state: RequestState, { path, organizationId }: PortalRequest): void {
    const page = pages.index(`${interfacePath}/portal/${organizationId}/`);
    if (findPortalPage(path) === null) sendNotFound(state, page);
    else end(state, new LightResponse(page, { headers: { 'Content-Type': html } }));
  }

  function sendRefusal(state: RequestState): void {
    const headers = { 'Content-Type': html, 'Retry-After': '1' };
    end(state, new LightResponse(pages.refused, { status: 429, headers }), { code: 'RATE_LIMITED' });
  }

  function sendFile(name: string, state: RequestState, portal: PortalRequest): void {
    const asset = pages.asset(name);
    if (!asset) return sendPage(state, portal);
    const headers = {
      'Content-Type': asset.contentType,
      // Also to a client that does not accept it, though RFC 9110, section 12.5.3 says that it should then get a file without a
      // coding: that is three times as long, and every browser accepts gzip.
      'Content-Encoding': 'gzip',
      // A build gives a changed file another name, except for the one that each release has.
      ...(name !== 'reload.js' && { 'Cache-Control': 'public, max-age=31536000, immutable' }),
    };
    end(state, new LightResponse(asset.gzip, { headers }));
    return undefined;
  }

  return {
    /**
     * Ends a request for a page or a file. Another one goes on.
     *
     * @throws {RequestError} if it is refused
     */
    respond(state: RequestState, portal: PortalRequest): void {
      const { path, respond } = portal;
      const { method } = state.message;
      const [name = null] = /(?<=^assets\/).*/.exec(path) ?? [];
      // The client of what starts or ends a session is charged, as for operations.
      if (path === 'graphql' || (respond && !isRead(method))) return;
      if (!limiter.take(addressBlock(state.address))) {
        if (path === 'session' || name !== null) throw tooMany;
        sendRefusal(state);
        return;
      }
      if (respond) return;
      if (path === 'session') throw wrongMethod('GET, HEAD, POST, DELETE');
      if (!isRead(method)) throw wrongMethod('GET, HEAD');
      if (name === null) sendPage(state, portal);
      else sendFile(name, state, portal);
    },

    /**
     * Ends a request for a page without the number of an account, or without the slash after it, on which the paths of the files
     * depend. Another one goes on.
     */
    lead(state: RequestState): void {
      const { message, address } = state;
      const [found, organizationId] = basePattern.exec(requestPath(message)) ?? [];
      if (found === undefined || !isRead(message.method)) return;
      if (organizationId === undefined && !acceptsHtml(state.message)) return;
      if (!limiter.take(addressBlock(address))) return sendRefusal(state);
      if (organizationId === undefined) return sendNotFound(state, pages.withoutAccount);
      const [query = ''] = /\?[^#]*/.exec(message.url ?? '') ?? [];
      end(state, new LightResponse('', { status: 308, headers: { Location: `${found}/${query}` } }));
    },

    /** @throws {RequestError} if the address has too many requests that are refused before their client is known */
    limitRefusal({ address }: RequestState): void {
      if (!limiter.take(addressBlock(address))) throw tooMany;
    },

    /** `X-Content-Type-Options` is in every response. A proxy adds `Strict-Transport-Security`. */
    securityHeaders: {
      'Content-Security-Policy': `default-src 'none'; script-src 'self' ${pages.scriptSource}; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
  };
}

/** A person gets a page, and a program an error. */
function sendNotFound(state: RequestState, page: string): void {
  if (!acceptsHtml(state.message))
    throw new RequestError('NOT_FOUND', { message: 'The portal has no such page or file.' });
  end(state, new LightResponse(page, { status: 404, headers: { 'Content-Type': html } }), { code: 'NOT_FOUND' });
}

const html = 'text/html; charset=utf-8';
