import type { Pricing } from '@deedwire/operation-analysis';
import type { Pausable } from '../operation/operation-pauses.ts';
import type { ThrottleStatus } from './bucket.ts';
import type { RequestAccount } from './request-account.ts';

type PriceOf = ReturnType<Pricing['price']>['priceOf'];

export interface ChargedPoints {
  /** In all, with `paid`. */
  charged: number;
  /** For reading the request. They stay paid while the operation waits. */
  reading: number;
  /** Before, for the document. */
  paid: number;
}

/** The points and the slot of an operation. While it waits, it has no slot, and only the points of reading it. */
export class OperationCharge implements Pausable {
  readonly #account: RequestAccount;
  readonly points: Readonly<ChargedPoints>;
  readonly priceOf: PriceOf;
  #held: number;
  #leaveSlot: (() => void) | null = null;
  #isOver = false;
  /** What it costs because its variables were rejected. Null unless they were. */
  rejected: number | null = null;

  constructor(account: RequestAccount, points: ChargedPoints, priceOf: PriceOf) {
    this.#account = account;
    this.points = points;
    this.priceOf = priceOf;
    this.#held = points.charged;
  }

  /**
   * Takes the slot. Without one, the operation costs nothing but its document.
   *
   * @throws {RequestError} if the client gets none
   */
  enter(): void | Promise<void> {
    const fail = (error: unknown): never => {
      this.end(this.points.paid);
      throw error;
    };
    try {
      const slot = this.#account.slot();
      if (slot instanceof Promise) return slot.then((leave) => void (this.#leaveSlot = leave), fail);
      this.#leaveSlot = slot;
      return undefined;
    } catch (error) {
      return fail(error);
    }
  }

  leave(): void {
    this.#leaveSlot?.();
    this.#leaveSlot = null;
  }

  pause(): void {
    this.leave();
    const suspended = this.#suspended;
    this.#account.refund(suspended);
    this.#held -= suspended;
  }

  /** Also if the bucket holds fewer points: the client then owes them, until the refund. */
  async resume(): Promise<void> {
    const suspended = this.#suspended;
    this.#account.deduct(suspended);
    this.#held += suspended;
    this.#leaveSlot = await this.#account.slot();
    if (this.#isOver) this.leave();
  }

  /** Leaves the slot. Refunds what the operation holds and has not used, or takes what it has used and does not hold. Once. */
  end(used: number): ThrottleStatus {
    if (this.#isOver) return this.#account.throttleStatus();
    this.#isOver = true;
    this.leave();
    if (used > this.#held) this.#account.deduct(used - this.#held);
    return this.#account.refund(Math.max(0, this.#held - used));
  }

  /** The points that it does not hold while it waits. */
  get #suspended(): number {
    return this.points.charged - this.points.reading;
  }
}
