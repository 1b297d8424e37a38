import { StoreUnavailableError } from '@deedwire/store';
import { FencedOutError } from '../workers/fenced-out-error.ts';

/**
 * What the error of a call to storage means:
 *
 * - `unavailable`: the same call can succeed later
 * - `locked`: another transaction holds a lock on a row of the call
 * - `fenced-out`: this worker was declared dead, so that no later call writes anything
 * - `refused`: storage refuses something in the call
 */
export type CallFailure = 'unavailable' | 'locked' | 'fenced-out' | 'refused';

// SQLSTATE lock_not_available: lock_timeout has passed.
const lockNotAvailable = '55P03';

export function callFailure(error: unknown): CallFailure {
  if (error instanceof StoreUnavailableError) return 'unavailable';
  if (error instanceof FencedOutError) return 'fenced-out';
  return error instanceof Error && 'code' in error && error.code === lockNotAvailable ? 'locked' : 'refused';
}
