import type { BucketStatus } from './bucket.ts';

/** The name of the limit in the contracts, and of the policy in the headers. */
export const costLimitName = 'clientCostPoints';

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-11 (sections 3 and 4), structured fields of RFC 9651. The draft has no quota
 * unit for cost points, so `qu` is omitted. `q` points per `w` seconds are what the bucket regains, rounded down. `t` is the time
 * until there are more points than `r`; a full bucket has none.
 */
export function rateLimitHeaders(status: BucketStatus): Readonly<Record<string, string>> {
  const { maximumAvailable, currentlyAvailable, restoreRate, nextPointMs } = status;
  const windowSeconds = Math.ceil(maximumAvailable / restoreRate);
  const reset = currentlyAvailable < maximumAvailable ? `;t=${Math.ceil(nextPointMs / 1000)}` : '';
  return {
    'RateLimit-Policy': `"${costLimitName}";q=${maximumAvailable};w=${windowSeconds}`,
    RateLimit: `"${costLimitName}";r=${currentlyAvailable}${reset}`,
  };
}
