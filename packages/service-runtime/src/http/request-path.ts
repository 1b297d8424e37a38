import type { IncomingMessage } from 'node:http';

/**
 * Returns the path of a request without its query. Accepts the absolute form, as every server must (RFC 9112, 3.2.2).
 * `new URL(url, base)` is not used because it reads `//anything/path` as a host and a path.
 */
export function requestPath({ url = '' }: IncomingMessage): string {
  // What almost all clients send, without the cost of the patterns.
  if (url.startsWith('/') && !url.includes('?') && !url.includes('#')) return url;
  const [, path = '/'] = /^https?:\/\/[^/?#]*(\/[^?#]*)?/i.exec(url) ?? /^([^?#]*)/.exec(url) ?? [];
  return path;
}
