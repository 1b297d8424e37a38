import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';

/**
 * What the error of a call to storage means:
 *
 * - `unavailable`: the same call can succeed later
 * - `locked`: another transaction holds a lock on a row of the call
 * - `refused`: storage refuses an item of the call
 */
export type CallFailure = 'unavailable' | 'locked' | 'refused';

export function callFailure(error: unknown): CallFailure {
  if (error instanceof LockTimeoutError) return 'locked';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'refused';
}
