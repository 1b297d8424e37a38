import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';
import type { AddressRanges } from '@deedwire/auth';

/** Used once the connection is closed, because Node then no longer knows its address. */
const unknown = 'unknown';

export interface AddressedRequest {
  headers: Partial<Pick<IncomingMessage['headers'], 'forwarded' | 'x-forwarded-for'>>;
  socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
}

/** It does not change while the connection is open, and many requests share a connection. */
const peers = new WeakMap<AddressedRequest['socket'], string>();

/** Returns the address of the peer of a connection, `unknown` if it was closed before the first call. */
export function peerAddress(socket: AddressedRequest['socket']): string {
  const known = peers.get(socket);
  if (known !== undefined) return known;
  const address = readAddress(socket.remoteAddress);
  if (address !== undefined) peers.set(socket, address);
  return address ?? unknown;
}

/**
 * Returns the address of the client: the peer of the connection, or, if that is a trusted proxy, the last address in
 * `Forwarded` or `X-Forwarded-For` that is not a trusted proxy itself. Headers of other peers are ignored, because any
 * client can send them.
 *
 * A proxy maintains one of the two headers and may pass on the other one as the client sent it. If both are present and
 * disagree, neither can be believed, and the result is the address of the proxy.
 */
export function clientAddress({ socket, headers }: AddressedRequest, proxies: AddressRanges): string {
  const peer = peerAddress(socket);
  if (!proxies.includes(peer)) return peer;
  const candidates = [forwardedHops(headers.forwarded), listedHops(headers['x-forwarded-for'])]
    .filter((hops) => hops.length > 0)
    .map((hops) => firstUntrusted(peer, hops, proxies));
  const [found = peer, other = found] = candidates;
  return found === other ? found : peer;
}

/** Each proxy appends the address that it saw, so the hops are read from the end. */
function firstUntrusted(peer: string, hops: readonly (string | undefined)[], proxies: AddressRanges): string {
  let known = peer;
  for (const hop of hops.toReversed()) {
    const address = readAddress(hop);
    if (address === undefined) return known; // `unknown`, an obfuscated name or garbage: what came before cannot be known
    known = address;
    if (!proxies.includes(address)) break;
  }
  return known;
}

/** The `for` parameters of RFC 7239. An element without one is an unknown hop. */
function forwardedHops(header: string | undefined): (string | undefined)[] {
  return split(header).map((element) => /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]+)\s*(?:;|$)/i.exec(element)?.[1]);
}

function listedHops(header: string | string[] | undefined): string[] {
  return split(Array.isArray(header) ? header.join(',') : header);
}

function split(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(',').map((element) => element.trim());
}

/** Reads an address with or without quotes, brackets and port. Returns its canonical form, IPv4 for an IPv4-mapped one. */
function readAddress(text = ''): string | undefined {
  const bare = text.replace(/^"(.*)"$/, '$1').replace(/^\[([^\]]*)\](?::\d{1,5})?$/, '$1');
  const address = /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(bare) ? bare.slice(0, bare.indexOf(':')) : bare;
  if (isIP(address) === 0) return undefined;
  if (isIP(address) === 4) return address;
  const canonical = new SocketAddress({ address: address.split('%')[0] ?? '', family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(canonical)?.[1] ?? canonical;
}
