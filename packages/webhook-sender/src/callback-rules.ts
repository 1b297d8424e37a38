import { isPublicAddress } from './address-guard.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { translatedAddress } from './nat64.ts';

/** Ranges of addresses that no callback may have, whatever the policy. */
export interface DeniedRanges {
  includes(address: string): boolean;
}

/** What decides which callback URLs and which addresses are allowed. */
export interface CallbackRules {
  readonly policy: CallbackPolicy;
  readonly deniedRanges: DeniedRanges;
  /** The prefix of our network, of 96 bits, besides 64:ff9b::/96. */
  readonly nat64Prefix?: string | undefined;
}

/** Returns why the rules forbid an address, or null if they allow it. */
export function addressProblem(
  address: string,
  { policy, deniedRanges, nat64Prefix }: CallbackRules,
): 'denied' | 'not public' | null {
  const reached = translatedAddress(address, nat64Prefix) ?? address;
  if (policy === 'public' && !isPublicAddress(reached)) return 'not public';
  return [address, reached].some((each) => deniedRanges.includes(each)) ? 'denied' : null;
}
