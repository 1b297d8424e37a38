import { isIP } from 'node:net';

/** The address if the host of the URL is one, IPv6 without its brackets; null if it is a name. */
export function hostAddress(url: URL): string | null {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(host) === 0 ? null : host;
}
