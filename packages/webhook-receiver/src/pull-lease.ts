import { within } from './deadline.ts';
import { messageOf } from './field.ts';
import { TransientError } from './pull-error.ts';
import type { PullPositions } from './pull-positions.ts';

const timeoutMs = 3_000;
const tooLate = `The store took longer than ${timeoutMs} ms.`;

async function inTime<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await within(timeoutMs, tooLate, work);
  } catch (error) {
    const message = `The store is unavailable: ${messageOf(error)}`;
    throw new TransientError('unavailable', message, 0, { cause: error });
  }
}

/** The lease of a subscription, with the position that it protects. It is renewed until it ends. */
export class PullLease {
  readonly #positions: PullPositions;
  readonly #subscriptionId: string;
  readonly #holder: string;
  readonly #leaseMs: number;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #onLost: () => void;
  /** As text. */
  position: string | null;
  isLost = false;
  #saved: Promise<void> = Promise.resolve();

  private constructor(
    positions: PullPositions,
    subscriptionId: string,
    {
      holder,
      leaseMs,
      position,
      onLost,
    }: { holder: string; leaseMs: number; position: string | null; onLost: () => void },
  ) {
    this.#positions = positions;
    this.#subscriptionId = subscriptionId;
    this.#holder = holder;
    this.#leaseMs = leaseMs;
    this.#onLost = onLost;
    this.position = position;
    this.#timer = setInterval(() => {
      // The next renewal can succeed. If another run has taken the lease, nothing is overwritten.
      this.save(this.position).catch(() => {});
    }, leaseMs / 3);
  }

  /**
   * Null while another run has the lease.
   *
   * @param onLost is called when another run has taken the lease
   * @throws {TransientError} if the store is unavailable
   */
  static async take(
    positions: PullPositions,
    subscriptionId: string,
    leaseMs: number,
    onLost: () => void,
  ): Promise<PullLease | null> {
    const holder = crypto.randomUUID();
    const taken = await inTime(() => positions.take(subscriptionId, holder, leaseMs));
    if (taken === null) return null;
    return new PullLease(positions, subscriptionId, { holder, leaseMs, position: taken.position, onLost });
  }

  /** @throws {TransientError} if the store is unavailable */
  save(position: string | null): Promise<void> {
    this.position = position;
    // One after the other: an earlier position may not replace a later one.
    this.#saved = this.#saved.catch(() => {}).then(() => this.#save());
    return this.#saved;
  }

  async #save(): Promise<void> {
    if (this.isLost) return;
    const isKept = await inTime(() =>
      this.#positions.keep(this.#subscriptionId, this.#holder, this.#leaseMs, this.position),
    );
    if (isKept) return;
    this.isLost = true;
    this.#onLost();
  }

  /** If it fails, the lease ends by itself. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saved.catch(() => {});
    if (!this.isLost) await inTime(() => this.#positions.release(this.#subscriptionId, this.#holder)).catch(() => {});
  }
}

/**
 * With the time of a longer lease, a timer would run every millisecond.
 *
 * @throws {TypeError}
 */
export function checkLeaseMs(leaseMs: number): void {
  if (!Number.isSafeInteger(leaseMs) || leaseMs < 1_000 || leaseMs > 86_400_000)
    throw new TypeError('leaseMs must be an integer from 1000 to 86400000.');
}
