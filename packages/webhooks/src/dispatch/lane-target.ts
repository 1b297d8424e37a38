import type { RequestHeader } from '@deedwire/core';
import type { AccountId, SubscriptionId } from '../kernel/ids.ts';
import { LaneCall } from './lane-calls.ts';
import type { LaneState } from './lane-state.ts';
import type { LaneMarks } from './lane-walk.ts';

/** Where and how the deliveries of a lane are sent. */
export interface LaneTarget {
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
  readonly callbackUrl: string;
  /** Incremented with each new callback URL and each resumption. The state of a receiver belongs to one number. */
  readonly urlNumber: number;
  /** Null if a stored secret, or the value of the header, cannot be decrypted. The lane then waits, and an alarm is reported. */
  readonly secret: string | null;
  /** The new secret during a rotation. Null otherwise. */
  readonly nextSecret: string | null;
  /** When the new secret becomes the only one, by the clock of the database. Null outside of a rotation. */
  readonly rotationEndsAtMs: number | null;
  /** From DNS to the end of the response body. */
  readonly timeoutMs: number;
  /** The secret header of the subscription. Null if it has none, or one for another origin than that of the callback URL. */
  readonly requestHeader: RequestHeader | null;
  /** The subscription has a header for another origin, which is not sent. */
  readonly isHeaderDropped: boolean;
  readonly state: LaneState;
  readonly marks: LaneMarks;
}

/** A target with a secret, so that the lane can send. */
export type SendableTarget = LaneTarget & { readonly secret: string };

function isSendable(target: LaneTarget): target is SendableTarget {
  return target.secret !== null;
}

/** Whether both targets produce the same requests. Ignores the stored state, the marks and the end of a rotation. */
function isSameTarget(a: LaneTarget, b: LaneTarget): boolean {
  return (
    a.urlNumber === b.urlNumber &&
    a.secret === b.secret &&
    a.nextSecret === b.nextSecret &&
    a.timeoutMs === b.timeoutMs &&
    a.requestHeader?.name === b.requestHeader?.name &&
    a.requestHeader?.value === b.requestHeader?.value &&
    a.isHeaderDropped === b.isHeaderDropped
  );
}

/** A target that is older than this share of the maximum age is read again in the background. */
const refreshShare = 4 / 5;

/** The target of a lane in memory. Times are by the steady clock. */
export class TargetCache {
  readonly call = new LaneCall();
  readonly #maxAgeMs: number;
  #current: SendableTarget | null = null;
  #readAtMs = -Infinity;
  #rotationEndsAtMs = Infinity;

  /** @param maxAgeMs an older target is not used */
  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** Null before the first read, and if the last one returned a secret that cannot be decrypted. */
  get current(): SendableTarget | null {
    return this.#current;
  }

  /** Whether the target in memory has another URL. */
  isOtherUrl({ urlNumber }: LaneTarget): boolean {
    return this.#current !== null && this.#current.urlNumber !== urlNumber;
  }

  isFresh(nowMs: number): boolean {
    return this.#current !== null && nowMs - this.#readAtMs < this.#maxAgeMs && nowMs < this.#rotationEndsAtMs;
  }

  mustRefresh(nowMs: number): boolean {
    return nowMs - this.#readAtMs >= this.#maxAgeMs * refreshShare;
  }

  /** The target may have changed. */
  expire(): void {
    this.call.cancel();
    this.#readAtMs = -Infinity;
  }

  /**
   * Keeps the object if nothing changed: the sender caches by identity. Returns false if the target cannot be used.
   *
   * @param offsetMs steady time minus the time of the database
   */
  read(target: LaneTarget, nowMs: number, offsetMs: number): boolean {
    if (!isSendable(target)) {
      this.#current = null;
      return false;
    }
    if (this.#current === null || !isSameTarget(this.#current, target)) this.#current = target;
    this.#readAtMs = nowMs;
    const rotationEndsAtMs = (target.rotationEndsAtMs ?? Infinity) + offsetMs;
    // The database can report an end as future that this clock has passed. Reading until both agree would be a busy loop.
    this.#rotationEndsAtMs = rotationEndsAtMs > nowMs ? rotationEndsAtMs : Infinity;
    return true;
  }
}
