import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** What a slow or silent client may hold, in milliseconds and bytes. */
export const httpLimits = {
  /** From connecting, or from the first byte on a kept connection, until the headers are complete. */
  headersTimeout: 10_000,
  /** Until the whole request is complete. The handler's own limit on the body is shorter and answers better. */
  requestTimeout: 20_000,
  /** How often the two above are looked at. */
  connectionsCheckingInterval: 1000,
  /** Longer than the 60 s of common load balancers: otherwise they reuse connections that are being closed. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  /** Silence in both directions, so also a client that does not read its answer. */
  socketTimeout: 30_000,
};

export function createHttpServer(listener: RequestListener, limits = httpLimits): Server {
  const { socketTimeout, ...options } = limits;
  return createServer(options, listener).setTimeout(socketTimeout);
}

/** Rejects when the port is taken or the host is not an address of this machine. */
export async function listen(server: Server, { PORT, HOST }: { PORT: number; HOST?: string | undefined }) {
  server.listen({ port: PORT, host: HOST });
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new TypeError('not listening on TCP');
  const { address, family, port } = bound;
  const host = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${host}:${port}`, port };
}

/**
 * Accepts no connection any more and waits until every request under way is answered. Whoever is still sending then, headers
 * without an end or the body of a request that was refused, is cut off: Node enforces none of the limits above any more once
 * a server closes, so that one such client would keep it open.
 */
export async function closeServer(server: Server, isAnswering: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A connection that was busy at first becomes idle when its answer is written, and would be kept open for reuse.
  const timer = setInterval(() => {
    if (isAnswering()) server.closeIdleConnections();
    else server.closeAllConnections();
  }, 50);
  await promise;
  clearInterval(timer);
}
