import { isIP } from 'node:net';

/** RFC 6052, section 2.1. */
const wellKnownPrefix = '64:ff9b::';

/**
 * The IPv4 address that a NAT64 reaches for an IPv6 address, for which only an IPv4 address of the receiver is in DNS. Null for all
 * others.
 *
 * @param ownPrefix of our network, of 96 bits, without its length
 */
export function translatedAddress(address: string, ownPrefix: string | undefined): string | null {
  if (isIP(address) !== 6 || address.includes('%')) return null;
  const groups = groupsOf(address);
  const prefix = groups.slice(0, 6).join(':');
  const isTranslated = [wellKnownPrefix, ownPrefix].some((own) => own !== undefined && prefixOf(own) === prefix);
  if (!isTranslated) return null;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

const prefixOf = (address: string): string => groupsOf(address).slice(0, 6).join(':');

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes an embedded IPv4 address as two groups.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [parse(head), parse(tail)];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

const parse = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
