import { type AddressRange, type AddressRanges, hasHostBits, parseRange, toAddressRanges } from '@deedwire/auth';
import { z } from 'zod';

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
  return rangesVariable('ranges such as 198.51.100.0/24', beginsWithFirst);
}

/** Each costs an entry of a response. */
const egressAddressesMax = 32;

/**
 * The addresses from which requests to receivers come, for their firewalls: a list of addresses and ranges, separated by commas, for
 * example `198.51.100.7, 2001:db8::/64`. The value has the texts of the entries. Defaults to none.
 */
export function egressAddressesVariable() {
  return z
    .string()
    .transform((text, context): readonly string[] => {
      const read = readEntries(text, 'ranges such as 198.51.100.0/24', beginsWithFirst);
      if (typeof read === 'string') context.addIssue(read);
      else if (read.length > egressAddressesMax) context.addIssue(`must have at most ${egressAddressesMax} entries`);
      else return read.map(({ entry }) => entry);
      return z.NEVER;
    })
    .default([]);
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

/** What is wrong with a range, as the start of a sentence. Null if nothing is. */
type FindProblem = (range: AddressRange) => string | null;

/** Someone meant either the address or the range. */
function beginsWithFirst(range: AddressRange): string | null {
  return hasHostBits(range) ? 'must contain ranges that begin with their first address' : null;
}

function rangesVariable(what: string, problemOf: FindProblem) {
  return z
    .string()
    .transform((text, context): AddressRanges => {
      const read = readEntries(text, what, problemOf);
      if (typeof read !== 'string') return toAddressRanges(read.map(({ range }) => range));
      context.addIssue(read);
      return z.NEVER;
    })
    .default(noAddresses);
}

/** The entries of a list, or the first problem. */
function readEntries(
  text: string,
  what: string,
  problemOf: FindProblem,
): { entry: string; range: AddressRange }[] | string {
  const read: { entry: string; range: AddressRange }[] = [];
  for (const [index, part] of text.split(',').entries()) {
    const entry = part.trim();
    const range = parseRange(entry);
    if (range === null) return `must be IP addresses or ${what}, separated by commas; entry ${index + 1} is not`;
    const problem = problemOf(range);
    if (problem !== null) return `${problem}; entry ${index + 1}, ${entry}, does not`;
    read.push({ entry, range });
  }
  return read;
}
