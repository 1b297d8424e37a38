import { RequestError } from '../errors/request-error.ts';
import type { Rejection } from './bucket.ts';
import { costLimitName } from './rate-limit-headers.ts';

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
