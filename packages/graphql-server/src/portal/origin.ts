import type { IncomingMessage } from 'node:http';
import type { AuthenticationRefusal } from '@deedwire/auth';
import { isRead } from '../transport/is-read.ts';
import { loggableValue } from '../transport/loggable-value.ts';

/**
 * Null if the page that sends a request is one of ours, at the origin of the portal; otherwise what differs, for the log. Browsers send `Origin` with
 * each method but GET and HEAD, and recent ones `Sec-Fetch-Site` with each request.
 */
export function findForeign(
  { method, headers }: IncomingMessage,
  origin: string,
): NonNullable<AuthenticationRefusal['foreign']> | null {
  const { host, origin: sentBy, 'sec-fetch-site': site = 'same-origin' } = headers;
  const expectedHost = new URL(origin).host;
  if (host?.toLowerCase() !== expectedHost) return { host: loggableHost(host), expectedHost };
  if (site !== 'same-origin') return { site: loggableValue(site) };
  if (sentBy === origin || (sentBy === undefined && isRead(method))) return null;
  return { origin: loggableHost(sentBy), expectedOrigin: origin };
}

/** Undefined unless it is only a host, with a scheme and a port or without: before or after those can be a password. */
function loggableHost(value: string | undefined): string | undefined {
  const isHost = /^(?:[a-z][a-z\d+.-]*:\/\/)?(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(value ?? '');
  return isHost ? loggableValue(value) : undefined;
}
