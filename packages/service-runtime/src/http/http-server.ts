import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addressBlock, type AddressRanges } from '@deedwire/auth';
import type { RaiseAlarm, ServerAlarm } from '../alarms.ts';
import { clientAddress, peerAddress } from '../client-address.ts';
import { createLineThrottle } from '../line-throttle.ts';
import type { Logger } from '../logger.ts';
import type { HttpLimits } from './http-limits.ts';
import type { HttpResponse } from './http-response.ts';
import { createServer } from './node-http.ts';
import { type ConnectionLimit, type OpenConnection, trackConnections } from './open-connections.ts';
import { type ParserError, receivedHeaderBytes } from './received-header-bytes.ts';
import type { Refusal, RefusalCode, RenderRefusal } from './refusal.ts';
import { createRequestQueue, type RequestQueue } from './request-queue.ts';
import {
  noTunnel,
  refusalOfError,
  refusalOfRequest,
  tooManyConnections,
  tooManyConnectionsOfClient,
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
  /** Waits before the response, at most until the connection is closed. One wait at a time. */
  waitWhileOpen(ms: number): Promise<void>;
  /** Whether the connection is open, so that the client can receive a response. */
  isOpen(): boolean;
  /**
   * Calls the listener when the connection is closed before the response is sent, at once if it is. Returns a function that forgets
   * it. One listener at a time.
   */
  whenClosed(listener: () => void): () => void;
  /**
   * Reads no further requests of the connection, and closes it after this one. It counts until then. A connection of a trusted
   * proxy, which sends requests of others on it, stays open.
   */
  drop(): void;
  /**
   * The request has valid credentials: its connection counts for this client from now on. Returns the refusal to respond with
   * if the client has too many connections.
   */
  authenticated(clientId: string): Refusal | null;
}

export type HttpHandler = (request: IncomingMessage, context: RequestContext) => Promise<HttpResponse>;

export interface HttpServerOptions {
  handle: HttpHandler;
  renderRefusal: RenderRefusal;
  limits: HttpLimits;
  trustedProxies: AddressRanges;
  logger: Logger;
  raiseAlarm: RaiseAlarm<ServerAlarm>;
  /** Called for each request that is refused without calling `handle`. */
  onRefused: (code: RefusalCode) => void;
  /** Called for each connection that exceeds a limit. */
  onConnectionLimit: (limit: ConnectionLimit) => void;
  /** Called for each idle connection that is closed because of a limit. */
  onIdleConnectionClosed: (limit: ConnectionLimit) => void;
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
  /** Ends the wait before the response. Null while there is none. */
  endWait: (() => void) | null;
  /** Called when the connection is closed. Null while there is none. */
  onClosed: (() => void) | null;
  /** The request has valid credentials, and its connection counts for the client. */
  isAuthenticated: boolean;
  /** The request has valid credentials, and its client has too many connections. */
  isBeyondClient: boolean;
}

/** What is known of the requests of a connection. */
interface Requests {
  latest: Exchange | undefined;
  /** Requests that have started and have no complete response. */
  running: number;
  /** The connection closes after a response: nothing can be sent for further requests, so they do not run. */
  isClosing: boolean;
  queue: RequestQueue;
}

/**
 * A server on which every response has the same headers and every error the same format, including the responses that Node
 * writes itself by default: to malformed, incomplete and oversized requests, to `Expect` and to CONNECT.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { handle, renderRefusal, limits, trustedProxies, logger, raiseAlarm } = options;
  const { socketTimeout, requestsPerConnection, requestsBeforeKey, requestsWithKey, clientRefusalDelay, ...others } =
    limits;
  const { connections: _, connectionsPerAddress, connectionsPerClient, ...nodeOptions } = others;
  // The check of the Host header is ours, because Node's own response to it has no body.
  const server = createServer({ ...nodeOptions, requireHostHeader: false }).setTimeout(socketTimeout);
  server.maxHeadersCount = 0; // Node would ignore headers after the 2,000th. The size limit is enough.
  const connections = trackConnections({
    limits,
    trustedProxies,
    monotonicMs: () => performance.now(),
    onLimit: options.onConnectionLimit,
    onClosed: options.onIdleConnectionClosed,
  });
  const refusalLines = createLineThrottle({ monotonicMs: () => performance.now() });
  const acceptLines = createLineThrottle({ monotonicMs: () => performance.now() });
  const requestsOf = new WeakMap<Duplex, Requests>();
  const refused = new WeakSet<Duplex>();
  /** Connections whose bytes are no longer understood. */
  const broken = new WeakSet<Duplex>();
  let isStopping = false;

  function refuse(refusal: Refusal, requestId: string, address: string): HttpResponse {
    const { code, message } = refusal;
    const response = renderRefusal(refusal, requestId);
    options.onRefused(code);
    const suppressedLines = refusalLines.pass(`${code} ${addressBlock(address)}`);
    if (suppressedLines !== null) {
      const line = {
        requestId,
        address,
        status: response.status,
        code,
        reason: message,
        suppressedLines,
        security: true,
      };
      logger.info(line, 'request refused');
    }
    return response;
  }

  function refuseOnSocket(socket: Duplex, refusal: Refusal, requestId: string = randomUUID()): void {
    refused.add(socket);
    if (!socket.writable) return;
    const address = socket instanceof Socket ? peerAddress(socket) : 'unknown';
    sendOnSocket(socket, refuse(refusal, requestId, address), requestId);
  }

  function openRequests(socket: Socket, connection: OpenConnection): Requests {
    const known = requestsOf.get(socket);
    if (known) return known;
    const opened: Requests = {
      latest: undefined,
      running: 0,
      isClosing: false,
      queue: createRequestQueue(
        socket,
        () => opened.running < (connection.isAuthenticated ? requestsWithKey : requestsBeforeKey),
      ),
    };
    requestsOf.set(socket, opened);
    return opened;
  }

  async function respond(
    request: IncomingMessage,
    exchange: Exchange,
    connection: OpenConnection,
    refusal: Refusal | null,
    closeAfterwards: () => void,
  ): Promise<HttpResponse> {
    const { requestId, response } = exchange;
    const address = clientAddress(request, trustedProxies);
    if (refusal) return refuse(refusal, requestId, address);
    try {
      return await handle(request, {
        requestId,
        address,
        acceptBody: () => {
          if (expectsContinue(request)) response.writeContinue();
        },
        waitWhileOpen: (ms) => waitWhileOpen(exchange, ms),
        isOpen: () => exchange.isOpen,
        whenClosed(listener) {
          if (!exchange.isOpen) listener();
          exchange.onClosed = listener;
          return () => (exchange.onClosed = null);
        },
        drop: () => {
          if (connection.isOfProxy) return;
          closeAfterwards();
          requestsOf.get(request.socket)?.queue.stop();
        },
        authenticated(clientId) {
          exchange.isAuthenticated = connections.authenticated(connection, clientId);
          exchange.isBeyondClient = !exchange.isAuthenticated;
          if (exchange.isBeyondClient) return tooManyConnectionsOfClient(connectionsPerClient);
          requestsOf.get(request.socket)?.queue.advance();
          return null;
        },
      });
    } catch (error) {
      raiseAlarm('request-broken', { err: error, requestId });
      return renderRefusal({ code: 'INTERNAL_SERVER_ERROR', message: 'An internal error occurred.' }, requestId);
    }
  }

  function receive(request: IncomingMessage, response: ServerResponse, knownRefusal: Refusal | null): void {
    const connection = connections.of(request.socket);
    if (!connection) return; // closed
    const requests = openRequests(request.socket, connection);
    if (requests.isClosing) {
      request.resume();
      return;
    }
    const exchange: Exchange = {
      requestId: randomUUID(),
      response,
      number: (requests.latest?.number ?? 0) + 1,
      isOpen: true,
      endWait: null,
      onClosed: null,
      isAuthenticated: false,
      isBeyondClient: false,
    };
    requests.latest = exchange;
    connections.requestStarted(connection);
    requests.queue.add(() => {
      if (request.socket.destroyed) return;
      requests.running += 1;
      response.once('close', () => {
        exchange.isOpen = false;
        exchange.endWait?.();
        exchange.onClosed?.();
        requests.running -= 1;
        connections.requestEnded(connection);
        requests.queue.advance();
      });
      void serve(request, exchange, connection, requests, knownRefusal);
    });
  }

  async function serve(
    request: IncomingMessage,
    exchange: Exchange,
    connection: OpenConnection,
    requests: Requests,
    knownRefusal: Refusal | null,
  ): Promise<void> {
    const { requestId, response } = exchange;
    const closeAfterwards = (): void => {
      requests.isClosing = true;
      requests.queue.drop();
      response.setHeader('Connection', 'close');
    };
    const overLimit = connection.isRefused ? tooManyConnections(connectionsPerAddress) : null;
    const refusal = overLimit ?? knownRefusal ?? refusalOfRequest(request);
    if (isStopping || exchange.number >= requestsPerConnection || refusal !== null) closeAfterwards();
    let sent: HttpResponse | undefined;
    try {
      sent = await respond(request, exchange, connection, refusal, closeAfterwards);
      if (exchange.isBeyondClient) await waitWhileOpen(exchange, clientRefusalDelay);
      // Without valid credentials, each refusal costs a new connection, except a 401, which is limited per address. A proxy sends requests of other clients too.
      if (sent.status >= 400 && sent.status !== 401 && !exchange.isAuthenticated && !connection.isOfProxy)
        closeAfterwards();
      // A short body often arrives together with the headers. Parsed, it lets the connection stay open.
      if (!request.complete) await nextTurn();
      if (!request.complete) closeAfterwards();
      if (!refused.has(request.socket)) sendResponse(response, sent, requestId);
    } catch (error) {
      logger.error({ err: error, requestId }, 'could not send the response');
      response.destroy();
    } finally {
      sent?.afterwards?.();
    }
  }

  server.on('connection', (socket) => {
    // Node removes its own listener when a client sends CONNECT. A reset would then end the process.
    socket.on('error', ignoreError);
    connections.add(socket);
  });
  server.on('request', (request, response) => receive(request, response, null));
  // Without this listener, Node would send 100 Continue before the handler has seen the request.
  server.on('checkContinue', (request, response) => receive(request, response, null));
  server.on('checkExpectation', (request, response) => receive(request, response, unknownExpectation));
  server.on('connect', (_request, socket) => refuseOnSocket(socket, noTunnel));
  server.on('clientError', (error: ParserError, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // More of the same request. Node reports each further read.
    if (refused.has(socket) || broken.has(socket)) return;
    broken.add(socket);
    const current = requestsOf.get(socket)?.latest;
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
      // Without a host, Node listens on every address of IPv4 where there is no IPv6.
      server.listen({ port, host: host === '::' ? undefined : host });
      await once(server, 'listening');
      // For example without a free file descriptor or memory. Without a listener, it would end the process.
      server.on('error', (err) => {
        const suppressedLines = acceptLines.pass('');
        if (suppressedLines !== null) logger.error({ err, suppressedLines }, 'a connection was not accepted');
      });
      return boundTo(server.address());
    },
    stopKeepingAlive: () => (isStopping = true),
    close: () => (server.listening ? closeServer(server, () => connections.requestsInFlight() > 0) : Promise.resolve()),
  };
}

/** Whatever breaks a connection, Node closes it. */
function ignoreError(): void {}

/** Waits, at most until the connection is closed. */
function waitWhileOpen(exchange: Exchange, ms: number): Promise<void> {
  if (!exchange.isOpen) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      exchange.endWait = null;
      resolve();
    }
    exchange.endWait = end;
  });
}

function expectsContinue({ headers }: IncomingMessage): boolean {
  return headers.expect !== undefined && /^100-continue$/i.test(headers.expect);
}

/** Where a listening server can be reached from this machine. */
function boundTo(bound: ReturnType<Server['address']>): { url: string; port: number } {
  if (bound === null || typeof bound === 'string') throw new TypeError('The server is not listening on TCP.');
  const { address, family, port } = bound;
  const host = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${host}:${port}`, port };
}

/**
 * Stops accepting connections and waits until every request in flight has its response. It then closes the connections of
 * clients that are still sending, for example headers without an end or the body of a rejected request. Node enforces
 * none of its timeouts on a closing server, so a single such client could keep it open.
 */
async function closeServer(server: Server, hasRequestsInFlight: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A busy connection becomes idle when its response is written. Node would then keep it open for reuse.
  const timer = setInterval(() => {
    if (hasRequestsInFlight()) server.closeIdleConnections();
    else server.closeAllConnections();
  }, 50);
  await promise;
  clearInterval(timer);
}
