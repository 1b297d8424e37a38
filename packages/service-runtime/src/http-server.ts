import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** Limits on slow or silent clients, in milliseconds and bytes. */
export const httpLimits = {
  /** From the connection, or from the first byte on a kept-alive connection, until the headers are complete. */
  headersTimeout: 10_000,
  /** Until the whole request is complete. The handler limits the body to less and responds with a better error. */
  requestTimeout: 20_000,
  /** How often Node checks the two timeouts above. */
  connectionsCheckingInterval: 1000,
  /** Longer than the 60 s of common load balancers. Otherwise they reuse connections that the server is closing. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  /** Without traffic in either direction. This also ends clients that do not read their response. */
  socketTimeout: 30_000,
};

export function createHttpServer(listener: RequestListener, limits = httpLimits): Server {
  const { socketTimeout, ...options } = limits;
  return createServer(options, listener).setTimeout(socketTimeout);
}

/** Rejects when the port is in use or the host is not an address of this machine. */
export async function listen(server: Server, { PORT, HOST }: { PORT: number; HOST?: string | undefined }) {
  server.listen({ port: PORT, host: HOST });
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new TypeError('The server is not listening on TCP.');
  const { address, family, port } = bound;
  const host = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${host}:${port}`, port };
}

/**
 * Stops accepting connections and waits until every request in flight has its response. It then closes the connections of
 * clients that are still sending, for example headers without an end or the body of a rejected request. Node enforces
 * none of the timeouts above on a closing server, so a single such client could keep it open.
 */
export async function closeServer(server: Server, hasRequestsInFlight: () => boolean): Promise<void> {
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
