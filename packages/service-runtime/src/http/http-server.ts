import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { clientAddress, peerAddress } from '../client-address.ts';
import type { Logger } from '../logger.ts';
import type { TrustedProxies } from '../trusted-proxies.ts';
import { boundTo, closeServer } from './bound-server.ts';
import { countConnectionsPerAddress } from './connections-per-address.ts';
import type { HttpLimits } from './http-limits.ts';
import type { HttpResponse } from './http-response.ts';
import { type ParserError, receivedHeaderBytes } from './received-header-bytes.ts';
import type { Refusal, RefusalCode, RenderRefusal } from './refusal.ts';
import {
  noTunnel,
  refusalOfError,
  refusalOfRequest,
  tooManyConnections,
  unknownExpectation,
} from './request-refusals.ts';
import { sendOnSocket, sendResponse } from './send-response.ts';

/** What a handler needs besides the request. */
export interface RequestContext {
  /** Always generated here, because the client's own value may not be unique. */
  requestId: string;
  /** The address of the client. */
  address: string;
  /** Sends 100 Continue to a client that waits for it before it sends the body. Call it before reading the body. */
  acceptBody(): void;
  /** The request has valid credentials: its connection no longer counts towards the limit per address. */
  authenticated(): void;
}

export type HttpHandler = (request: IncomingMessage, context: RequestContext) => Promise<HttpResponse>;

export interface HttpServerOptions {
  handle: HttpHandler;
  renderRefusal: RenderRefusal;
  limits: HttpLimits;
  trustedProxies: TrustedProxies;
  logger: Logger;
  /** Called for each request that is refused without calling `handle`. */
  onRefused: (code: RefusalCode) => void;
  /** Called for each connection that exceeds a limit. */
  onConnectionLimit: (limit: 'total' | 'address') => void;
}

export interface HttpServer {
  /** Rejects when the port is in use or the host is not an address of this machine. */
  listen(address: { port: number; host: string | undefined }): Promise<{ url: string; port: number }>;
  /** From now on, every response closes its connection. */
  stopKeepingAlive(): void;
  close(): Promise<void>;
}

/** A request and its response. */
interface Exchange {
  requestId: string;
  response: ServerResponse;
  /** The number of the request on its connection, from 1. */
  number: number;
  /** False once the response is sent, or the connection is closed. */
  isOpen: boolean;
}

/**
 * A server on which every response has the same headers and every error the same format, including the responses that Node
 * writes itself by default: to malformed, incomplete and oversized requests, to `Expect` and to CONNECT.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { handle, renderRefusal, limits, trustedProxies, logger } = options;
  const { socketTimeout, requestsPerConnection, connections, connectionsPerAddress, ...nodeOptions } = limits;
  // The check of the Host header is ours, because Node's own response to it has no body.
  const server = createServer({ ...nodeOptions, requireHostHeader: false }).setTimeout(socketTimeout);
  server.maxHeadersCount = 0; // Node would ignore headers after the 2,000th. The size limit is enough.
  server.maxConnections = connections;
  const perAddress = countConnectionsPerAddress(limits, trustedProxies, () => options.onConnectionLimit('address'));

  // A set of the responses would keep them in memory: V8 links each table of a set that changes all the time to the next one,
  // and a dead table that has reached the old generation keeps all later ones alive until that is collected.
  let openExchanges = 0;
  const latest = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  let isStopping = false;

  function refuse(refusal: Refusal, requestId: string, address: string): HttpResponse {
    const response = renderRefusal(refusal, requestId);
    const { status } = response;
    options.onRefused(refusal.code);
    logger.info({ requestId, address, status, code: refusal.code, reason: refusal.message }, 'request refused');
    return response;
  }

  function refuseOnSocket(socket: Duplex, refusal: Refusal, requestId: string = randomUUID()): void {
    refused.add(socket);
    if (!socket.writable) return;
    const address = socket instanceof Socket ? peerAddress(socket) : 'unknown';
    sendOnSocket(socket, refuse(refusal, requestId, address), requestId);
  }

  async function respond(
    request: IncomingMessage,
    { requestId, response }: Exchange,
    refusal: Refusal | null,
  ): Promise<HttpResponse> {
    const { socket } = request;
    const address = clientAddress(request, trustedProxies);
    if (refusal) return refuse(refusal, requestId, address);
    try {
      return await handle(request, {
        requestId,
        address,
        acceptBody: () => {
          if (expectsContinue(request)) response.writeContinue();
        },
        authenticated: () => perAddress.authenticated(socket),
      });
    } catch (error) {
      logger.error({ err: error, requestId }, 'request handler failed');
      return renderRefusal({ code: 'INTERNAL_SERVER_ERROR', message: 'An internal error occurred.' }, requestId);
    }
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    knownRefusal: Refusal | null,
  ): Promise<void> {
    const { socket } = request;
    const previous = latest.get(socket);
    // The connection closes after the previous response, so nothing can be sent for this request: do not run it.
    if (previous?.response.getHeader('Connection') === 'close') {
      request.resume();
      return;
    }
    const exchange: Exchange = {
      requestId: randomUUID(),
      response,
      number: (previous?.number ?? 0) + 1,
      isOpen: true,
    };
    latest.set(socket, exchange);
    openExchanges += 1;
    response.once('close', () => {
      exchange.isOpen = false;
      openExchanges -= 1;
    });

    const overLimit = perAddress.isRefused(socket) ? tooManyConnections(connectionsPerAddress) : null;
    const refusal = overLimit ?? knownRefusal ?? refusalOfRequest(request);
    const isLast = isStopping || exchange.number >= requestsPerConnection || refusal !== null;
    if (isLast) response.setHeader('Connection', 'close');
    try {
      const sent = await respond(request, exchange, refusal);
      // A short body often arrives together with the headers. Parsed, it lets the connection stay open.
      if (!request.complete) await nextTurn();
      if (!refused.has(socket)) sendResponse(response, sent, exchange.requestId);
    } catch (error) {
      logger.error({ err: error, requestId: exchange.requestId }, 'could not send the response');
      response.destroy();
    }
  }

  server.on('connection', (socket) => perAddress.add(socket));
  server.on('drop', () => options.onConnectionLimit('total'));
  server.on('request', (request, response) => void serve(request, response, null));
  // Without this listener, Node would send 100 Continue before the handler has seen the request.
  server.on('checkContinue', (request, response) => void serve(request, response, null));
  server.on('checkExpectation', (request, response) => void serve(request, response, unknownExpectation));
  server.on('connect', (_request, socket) => refuseOnSocket(socket, noTunnel));
  server.on('clientError', (error: ParserError, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (refused.has(socket)) return; // more of the same request
    const current = latest.get(socket);
    const isOpen = current?.isOpen ?? false;
    const bytesRead = socket instanceof Socket ? socket.bytesRead : 0;
    const headerBytes = receivedHeaderBytes(error, bytesRead, current === undefined);
    const refusal = refusalOfError(error, limits, { isInBody: isOpen, headerBytes });
    if (!current?.isOpen) refuseOnSocket(socket, refusal);
    // A request that follows another one: the response to that one comes first.
    else if (current.response.req.complete) current.response.once('close', () => refuseOnSocket(socket, refusal));
    // The body of a request that has no response yet. If it has one, it is already closing.
    else if (!current.response.headersSent) refuseOnSocket(socket, refusal, current.requestId);
  });

  return {
    async listen({ port, host }) {
      server.listen({ port, host });
      await once(server, 'listening');
      return boundTo(server.address());
    },
    stopKeepingAlive: () => (isStopping = true),
    close: () => (server.listening ? closeServer(server, () => openExchanges > 0) : Promise.resolve()),
  };
}

function expectsContinue({ headers }: IncomingMessage): boolean {
  return /^100-continue$/i.test(headers.expect ?? '');
}
