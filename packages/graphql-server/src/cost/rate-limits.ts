import { RequestError } from '../errors/request-error.ts';
import type { BucketStatus, Rejection } from './bucket.ts';

/** The name of the limit in the contracts, and of the policy in the headers. */
const costLimitName = 'clientCostPoints';

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-11 (sections 3 and 4), structured fields of RFC 9651. The draft has no quota
 * unit for cost points, so `qu` is omitted. `q` points per `w` seconds are what the bucket regains, rounded down. `t` is the time
 * until there are more points than `r`; a full bucket has none.
 */
export function rateLimitHeaders(status: BucketStatus): Readonly<Record<string, string>> {
  const { maximumAvailable, currentlyAvailable, restoreRate, nextPointMs } = status;
  const reset = currentlyAvailable < maximumAvailable ? `;t=${Math.ceil(nextPointMs / 1000)}` : '';
  return {
    'RateLimit-Policy': `"${costLimitName}";q=${maximumAvailable};w=${Math.ceil(maximumAvailable / restoreRate)}`,
    RateLimit: `"${costLimitName}";r=${currentlyAvailable}${reset}`,
  };
}

const subjects = {
  request: 'Every request costs at least',
  document: 'Reading the document costs',
  operation: 'The operation costs',
};

/**
 * The error of a request that costs more points than its client has.
 *
 * @param limit the most points that an operation may cost
 */
export function rateLimitedError(
  what: keyof typeof subjects,
  points: number,
  limit: number,
  rejection: Rejection,
): RequestError {
  const { maximumAvailable, currentlyAvailable, restoreRate } = rejection.throttleStatus;
  const retryAfterSeconds = Math.max(1, Math.ceil(rejection.retryAfterMs / 1000));
  return new RequestError('RATE_LIMITED', {
    message:
      `${subjects[what]} ${number(points)} ${points === 1 ? 'point' : 'points'}, but your client has ${number(currentlyAvailable)}. ` +
      `The limit ${costLimitName} is ${number(maximumAvailable)} points, restored at ${number(restoreRate)} per second. ` +
      'Retry after the time in the Retry-After header.',
    cost: { requestedQueryCost: points, limit },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

const number = (value: number): string => value.toLocaleString('en');
