import type { AccountId, SubscriptionId } from '../kernel/ids.ts';
import type { LaneState } from './lane-state.ts';

/** Where and how the deliveries of a lane are sent. */
export interface LaneTarget {
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
  readonly callbackUrl: string;
  /** Incremented with each new callback URL and each resumption. The state of a receiver belongs to one number. */
  readonly urlNumber: number;
  /** Null if the stored secret cannot be decrypted. The lane then waits, and an alarm is reported. */
  readonly secret: string | null;
  /** The new secret during a rotation. Null otherwise. */
  readonly nextSecret: string | null;
  readonly state: LaneState;
}

/** A target with a secret, so that the lane can send. */
export type SendableTarget = LaneTarget & { readonly secret: string };

export function isSendable(target: LaneTarget): target is SendableTarget {
  return target.secret !== null;
}

/** Whether both targets produce the same requests. Ignores the stored state. */
export function isSameTarget(a: LaneTarget, b: LaneTarget): boolean {
  return a.urlNumber === b.urlNumber && a.secret === b.secret && a.nextSecret === b.nextSecret;
}
