import type { OperationPauses, Pausable } from '../operation/operation-pauses.ts';
import type { RequestAccount } from './request-account.ts';

/** The slot and the points of an operation. While it waits, it holds neither. */
export class RunningOperation implements Pausable {
  readonly #account: RequestAccount;
  readonly #suspended: number;
  readonly #pauses: OperationPauses | undefined;
  /** Null while the operation has no slot. */
  #leave: (() => void) | null;
  #holdsPoints = true;
  #isOver = false;

  constructor(
    account: RequestAccount,
    { leave, suspended, pauses }: { leave: () => void; suspended: number; pauses: OperationPauses | undefined },
  ) {
    this.#account = account;
    this.#leave = leave;
    this.#suspended = suspended;
    this.#pauses = pauses;
    pauses?.add(this);
  }

  pause(): void {
    this.#leaveSlot();
    this.#account.suspend(this.#suspended);
    this.#holdsPoints = false;
  }

  async resume(): Promise<void> {
    this.#takePoints();
    this.#leave = await this.#account.slot();
    if (this.#isOver) this.#leaveSlot();
  }

  end(): void {
    this.#isOver = true;
    this.#pauses?.end();
    this.#leaveSlot();
    this.#takePoints();
  }

  #leaveSlot(): void {
    this.#leave?.();
    this.#leave = null;
  }

  /** Also if the bucket holds fewer: the client then owes them, until the refund. */
  #takePoints(): void {
    if (!this.#holdsPoints) this.#account.deduct(this.#suspended);
    this.#holdsPoints = true;
  }
}
