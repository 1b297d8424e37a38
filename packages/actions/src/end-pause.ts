import type { Transaction } from '@deedwire/store';
import type { PausedReason } from '@deedwire/webhooks/tables';
import { type LockedSubscription, resumeSubscription } from './webhooks/subscriptions/subscriptions.ts';

/** What has happened that can end a pause. */
export interface ResumeGrounds {
  /** The callback URL has passed a handshake, or an operator vouches for it. */
  isUrlVerified: boolean;
  /** All pinned event versions can be pinned. */
  arePinsServed: boolean;
  /** The owner resumes the subscription. */
  byOwner: boolean;
}

/** Whether the worker paused the subscription because of its receiver. */
export function isReceiverFailing(reason: PausedReason | null): boolean {
  return reason === 'GONE' || reason === 'FAILING';
}

/**
 * Resumes a locked subscription, unless the reason for which it is paused remains.
 *
 * @returns whether anything was changed
 */
export async function endPause(
  transaction: Transaction,
  { id, pausedReason }: LockedSubscription,
  grounds: ResumeGrounds,
): Promise<boolean> {
  if (pausedReason === null || !endsReason(pausedReason, grounds)) return false;
  await resumeSubscription(transaction, id, grounds);
  return true;
}

function endsReason(reason: PausedReason, { isUrlVerified, arePinsServed, byOwner }: ResumeGrounds): boolean {
  if (reason === 'OWNER') return byOwner;
  return reason === 'VERSION_RETIRED' ? arePinsServed : isUrlVerified;
}
