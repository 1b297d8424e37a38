import type { BucketStatus } from './bucket.ts';

/** The name of the limit in the contracts, and of the policy in the headers. */
export const costLimitName = 'clientCostPoints';

/** The policy of the last response. Most clients have the same. */
let latest = { maximumAvailable: Number.NaN, restoreRate: Number.NaN, policy: '' };

function policyOf({ maximumAvailable, restoreRate }: BucketStatus): string {
  if (latest.maximumAvailable !== maximumAvailable || latest.restoreRate !== restoreRate) {
    const policy = `"${costLimitName}";q=${maximumAvailable};w=${Math.ceil(maximumAvailable / restoreRate)}`;
    latest = { maximumAvailable, restoreRate, policy };
  }
  return latest.policy;
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-11 (sections 3 and 4), structured fields of RFC 9651. The draft has no quota
 * unit for cost points, so `qu` is omitted. `q` points per `w` seconds are what the bucket regains, rounded down. `t` is the time
 * until there are more points than `r`; a full bucket has none.
 */
export function rateLimitHeaders(status: BucketStatus): Readonly<Record<string, string>> {
  const { maximumAvailable, currentlyAvailable, nextPointMs } = status;
  const reset = currentlyAvailable < maximumAvailable ? `;t=${Math.ceil(nextPointMs / 1000)}` : '';
  return {
    'RateLimit-Policy': policyOf(status),
    RateLimit: `"${costLimitName}";r=${currentlyAvailable}${reset}`,
  };
}
