import { isPublicAddress } from './address-guard.ts';
import type { CallbackPolicy } from './callback-policy.ts';

/** Ranges of addresses that no callback may have, whatever the policy. */
export interface DeniedRanges {
  includes(address: string): boolean;
}

/** What decides which callback URLs and which addresses are allowed. */
export interface CallbackRules {
  readonly policy: CallbackPolicy;
  readonly deniedRanges: DeniedRanges;
}

/** Returns why the rules forbid an address, or null if they allow it. */
export function addressProblem(
  address: string,
  { policy, deniedRanges }: CallbackRules,
): 'denied' | 'not public' | null {
  if (policy === 'public' && !isPublicAddress(address)) return 'not public';
  return deniedRanges.includes(address) ? 'denied' : null;
}
