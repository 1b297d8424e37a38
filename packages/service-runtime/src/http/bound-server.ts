import type { Server } from 'node:http';

/** Where a listening server can be reached from this machine. */
export function boundTo(bound: ReturnType<Server['address']>): { url: string; port: number } {
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
