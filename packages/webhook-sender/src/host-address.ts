import { isIP } from 'node:net';

/** Returns the host of the URL if it is an IP address, IPv6 without brackets, or null if it is a name. */
export function hostAddress(url: URL): string | null {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(host) === 0 ? null : host;
}
