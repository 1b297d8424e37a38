import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** Addresses. An IPv4 address and its IPv6-mapped form are the same. */
export interface AddressRanges {
  includes(address: string): boolean;
}

export const noAddresses: AddressRanges = { includes: () => false };

/**
 * Whose `Forwarded` and `X-Forwarded-For` headers count: a list of addresses and subnets, separated by commas, for example
 * `10.0.0.0/8, 2001:db8::7`. Defaults to none.
 */
export function trustedProxiesVariable() {
  return rangesVariable('subnets such as 10.0.0.0/8', () => null);
}

/**
 * Addresses that no callback may have: a list of addresses and ranges, separated by commas, for example
 * `198.51.100.0/24, 2001:db8::7`. Defaults to none.
 */
export function deniedRangesVariable() {
  // Someone meant either the address or the range.
  return rangesVariable('ranges such as 198.51.100.0/24', (range) =>
    hasHostBits(range) ? 'must contain ranges that begin with their first address' : null,
  );
}

/** Reads an address or a range such as `10.0.0.0/8`. Returns null for any other text. */
export function readRange(text: string): AddressRanges | null {
  const range = parseRange(text);
  return range && toAddressRanges([range]);
}

/** The prefix of the NAT64 of a network, for example `2001:db8:64::/96`. The value has no length. */
export function nat64PrefixVariable() {
  return z.string().transform((text, context): string => {
    const range = parseRange(text.trim());
    if (range?.family === 'ipv6' && range.prefixBits === 96 && !hasHostBits(range)) return range.address;
    context.addIssue('must be an IPv6 range of 96 bits that begins with its first address, such as 2001:db8:64::/96');
    return z.NEVER;
  });
}

/** @param problemOf what is wrong with a range, as the start of a sentence. Null if nothing is. */
function rangesVariable(what: string, problemOf: (range: Range) => string | null) {
  return z
    .string()
    .transform((text, context): AddressRanges => {
      const ranges: Range[] = [];
      for (const [index, part] of text.split(',').entries()) {
        const entry = part.trim();
        const range = parseRange(entry);
        if (range === null) {
          context.addIssue(`must be IP addresses or ${what}, separated by commas; entry ${index + 1} is not`);
          return z.NEVER;
        }
        const problem = problemOf(range);
        if (problem !== null) {
          context.addIssue(`${problem}; entry ${index + 1}, ${entry}, does not`);
          return z.NEVER;
        }
        ranges.push(range);
      }
      return toAddressRanges(ranges);
    })
    .default(noAddresses);
}

function toAddressRanges(ranges: readonly Range[]): AddressRanges {
  const list = new BlockList();
  for (const { address, prefixBits, family } of ranges) list.addSubnet(address, prefixBits, family);
  return {
    includes(address) {
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
    },
  };
}

/** An address has all its bits as prefix. */
interface Range {
  readonly address: string;
  readonly prefixBits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Parses an address or a range such as `10.0.0.0/8`. Returns null for any other text. */
function parseRange(text: string): Range | null {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const prefixBits = prefix === undefined ? bits : Number(prefix);
  if (version === 0 || prefixBits > bits) return null;
  return { address, prefixBits, family: version === 6 ? 'ipv6' : 'ipv4' };
}

/** Whether the address has a bit after the prefix, as `10.0.0.1/8` has. */
function hasHostBits({ address, prefixBits, family }: Range): boolean {
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
