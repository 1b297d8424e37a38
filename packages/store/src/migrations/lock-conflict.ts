import { DatabaseError } from 'pg';

// SQLSTATE lock_not_available and deadlock_detected.
const lockStates = ['55P03', '40P01'];

/** Whether a statement gave up for a lock of another session, so that a later try can succeed. */
export function isLockConflict(error: unknown): boolean {
  return error instanceof DatabaseError && error.code !== undefined && lockStates.includes(error.code);
}
