import { inputError } from '../user-error.ts';

/** The same for a malformed identifier, a deleted subscription and the subscription of another account. */
export const subscriptionNotFound = inputError('NOT_FOUND', 'id', 'You have no subscription with this identifier.');
