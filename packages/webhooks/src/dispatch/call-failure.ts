import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { FencedOutError } from '../fence/fenced-out-error.ts';

/**
 * What the error of a call to storage means:
 *
 * - `unavailable`: the same call can succeed later
 * - `locked`: another transaction holds a lock on a row of the call
 * - `fenced-out`: this worker was declared dead, and its later calls write nothing
 * - `refused`: storage refuses an item of the call
 */
export type CallFailure = 'unavailable' | 'locked' | 'fenced-out' | 'refused';

export function callFailure(error: unknown): CallFailure {
  if (error instanceof LockTimeoutError) return 'locked';
  if (error instanceof StoreUnavailableError) return 'unavailable';
  return error instanceof FencedOutError ? 'fenced-out' : 'refused';
}
