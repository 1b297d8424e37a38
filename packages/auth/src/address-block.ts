import { isIP } from 'node:net';

/**
 * The key under which limits per address count: an IPv4 address, or the /64 of an IPv6 address, because a client usually
 * controls all addresses of its /64.
 */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  // A tail of at most 4 groups lies outside of the first 64 bits, which "::" fills with zeros.
  const omitted = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => '0');
  return `${[...first, ...omitted, ...last].slice(0, 4).join(':')}::/64`;
}
