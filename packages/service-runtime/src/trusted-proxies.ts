import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { parseSubnet } from './subnet.ts';

/** The addresses whose `Forwarded` and `X-Forwarded-For` headers count. */
export interface TrustedProxies {
  includes(address: string): boolean;
}

export const noTrustedProxies: TrustedProxies = { includes: () => false };

/** A list of addresses and subnets, separated by commas, for example `10.0.0.0/8, 2001:db8::7`. Defaults to none. */
export function trustedProxiesVariable() {
  return z
    .string()
    .transform((text, context): TrustedProxies => {
      const subnets = new BlockList();
      for (const [index, entry] of text.split(',').entries()) {
        const subnet = parseSubnet(entry.trim());
        if (subnet === null) {
          context.addIssue(
            `must be IP addresses or subnets such as 10.0.0.0/8, separated by commas; entry ${index + 1} is not`,
          );
          return z.NEVER;
        }
        subnets.addSubnet(subnet.address, subnet.prefixBits, subnet.family);
      }
      return {
        includes(address) {
          const version = isIP(address);
          return version !== 0 && subnets.check(address, version === 6 ? 'ipv6' : 'ipv4');
        },
      };
    })
    .default(noTrustedProxies);
}
