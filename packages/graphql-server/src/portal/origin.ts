import type { IncomingMessage } from 'node:http';

/**
 * Whether the page that sends a request is one of ours, at the origin of the portal. Browsers send `Origin` with each method but GET
 * and HEAD, and recent ones `Sec-Fetch-Site` with each request.
 */
export function isOfOrigin({ method, headers }: IncomingMessage, origin: string): boolean {
  const { host, origin: sentBy, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (host?.toLowerCase() !== new URL(origin).host || site !== 'same-origin') return false;
  return sentBy === origin || (sentBy === undefined && method === 'GET');
}
