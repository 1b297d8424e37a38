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
function rangesVariable(what: string, problemOf: (range: AddressRange) => string | null) {
  return z
    .string()
    .transform((text, context): AddressRanges => {
      const ranges: AddressRange[] = [];
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
