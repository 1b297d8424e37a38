import type { IncomingMessage } from 'node:http';

/**
 * The path of a request, without its query. Takes the absolute form too, which a server must accept (RFC 9112, 3.2.2).
 * Not read by `new URL(url, base)`, for which `//anything/path` is a host and a path.
 */
export function requestPath({ url = '' }: IncomingMessage): string {
  const [, path = '/'] = /^https?:\/\/[^/?#]*(\/[^?#]*)?/i.exec(url) ?? /^([^?#]*)/.exec(url) ?? [];
  return path;
}
