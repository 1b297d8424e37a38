import type { Pausable } from '../operation/operation-pauses.ts';
import type { ThrottleStatus } from './bucket.ts';
import type { RequestAccount } from './request-account.ts';

/** The points and the slot of an operation that runs. While it waits, it has no slot, and only the points of reading it. */
export class OperationCharge implements Pausable {
  readonly #account: RequestAccount;
  /** The points that it does not hold while it waits. */
  readonly #suspended: number;
  #held: number;
  #leaveSlot: (() => void) | null;
  #isOver = false;

  /** @param charged the points that it was charged, of which `reading` stay paid while it waits */
  constructor(
    account: RequestAccount,
    leaveSlot: () => void,
    { charged, reading }: { charged: number; reading: number },
  ) {
    this.#account = account;
    this.#leaveSlot = leaveSlot;
    this.#held = charged;
    this.#suspended = charged - reading;
  }

  pause(): void {
    this.#leave();
    this.#account.refund(this.#suspended);
    this.#held -= this.#suspended;
  }

  /** Also if the bucket holds fewer points: the client then owes them, until the refund. */
  async resume(): Promise<void> {
    this.#account.deduct(this.#suspended);
    this.#held += this.#suspended;
    this.#leaveSlot = await this.#account.slot();
    if (this.#isOver) this.#leave();
  }

  /** Leaves the slot. Refunds what the operation holds and has not used, or takes what it has used and does not hold. */
  end(used: number): ThrottleStatus {
    this.#isOver = true;
    this.#leave();
    if (used > this.#held) this.#account.deduct(used - this.#held);
    return this.#account.refund(Math.max(0, this.#held - used));
  }

  #leave(): void {
    this.#leaveSlot?.();
    this.#leaveSlot = null;
  }
}
