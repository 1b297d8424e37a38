import { RefusedError } from '../errors.ts';

/** @throws {RefusedError} `INVALID` if the time from which a key is to be rejected is not in the future */
export function checkExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw new RefusedError('INVALID', `The expiry must be in the future; it is ${expiresAt.toISOString()}.`);
  }
}
