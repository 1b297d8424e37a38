import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { hasHostBits, parseSubnet } from './subnet.ts';

/** Ranges of addresses that no callback may have. An IPv4 address and its IPv6-mapped form are the same. */
export interface DeniedRanges {
  includes(address: string): boolean;
}

export const noDeniedRanges: DeniedRanges = { includes: () => false };

/** A list of addresses and ranges, separated by commas, for example `198.51.100.0/24, 2001:db8::7`. Defaults to none. */
export function deniedRangesVariable() {
  return z
    .string()
    .transform((text, context): DeniedRanges => {
      const ranges = new BlockList();
      for (const [index, entry] of text.split(',').entries()) {
        const subnet = parseSubnet(entry.trim());
        if (subnet === null) {
          context.addIssue(
            `must be IP addresses or ranges such as 198.51.100.0/24, separated by commas; entry ${index + 1} is not`,
          );
          return z.NEVER;
        }
        const { address, prefixBits, family } = subnet;
        // Someone meant either the address or the range.
        if (hasHostBits(subnet)) {
          context.addIssue(
            `must contain ranges that begin with their first address; entry ${index + 1}, ${entry.trim()}, does not`,
          );
          return z.NEVER;
        }
        ranges.addSubnet(address, prefixBits, family);
      }
      return {
        includes(address) {
          const version = isIP(address);
          return version !== 0 && ranges.check(address, version === 6 ? 'ipv6' : 'ipv4');
        },
      };
    })
    .default(noDeniedRanges);
}
