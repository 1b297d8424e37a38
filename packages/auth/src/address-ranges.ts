import { BlockList, isIP } from 'node:net';

/** Addresses. An IPv4 address and its IPv6-mapped form are the same. */
export interface AddressRanges {
  includes(address: string): boolean;
}

/** Includes an IPv4 address also in its IPv6-mapped form. */
export function toAddressRanges(ranges: readonly AddressRange[]): AddressRanges {
  const list = new BlockList();
  for (const { address, prefixBits, family } of ranges) list.addSubnet(address, prefixBits, family);
  return {
    includes(address) {
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
    },
  };
}

/** @param texts addresses and ranges, of which each can be parsed */
export function readRanges(texts: readonly string[]): AddressRanges {
  return toAddressRanges(texts.flatMap((text) => parseRange(text) ?? []));
}

/** A range of addresses. An address has all its bits as prefix. */
export interface AddressRange {
  readonly address: string;
  readonly prefixBits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Parses an address or a range such as `10.0.0.0/8`. Returns null for any other text. */
export function parseRange(text: string): AddressRange | null {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const prefixBits = prefix === undefined ? bits : Number(prefix);
  if (version === 0 || prefixBits > bits) return null;
  return { address, prefixBits, family: version === 6 ? 'ipv6' : 'ipv4' };
}

/** Whether the address has a bit after the prefix, as `10.0.0.1/8` has. */
export function hasHostBits({ address, prefixBits, family }: AddressRange): boolean {
  const [value, bits] = family === 'ipv6' ? [ipv6Bits(address), 128] : [ipv4Bits(address), 32];
  return (value & ((1n << BigInt(bits - prefixBits)) - 1n)) !== 0n;
}

function ipv4Bits(address: string): bigint {
  return address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function ipv6Bits(address: string): bigint {
  // The URL parser writes an embedded IPv4 address as two groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const first = groups(head);
  const last = groups(tail ?? '');
  const omitted = Array.from({ length: 8 - first.length - last.length }, () => 0n);
  return [...first, ...omitted, ...last].reduce((bits, group) => (bits << 16n) | group, 0n);
}

function groups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}
