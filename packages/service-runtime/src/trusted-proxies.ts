import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

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
        if (addSubnet(subnets, entry.trim())) continue;
        context.addIssue(
          `must be IP addresses or subnets such as 10.0.0.0/8, separated by commas; entry ${index + 1} is not`,
        );
        return z.NEVER;
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

function addSubnet(subnets: BlockList, entry: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : Number(prefix);
  if (version === 0 || length > bits) return false;
  subnets.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
  return true;
}
