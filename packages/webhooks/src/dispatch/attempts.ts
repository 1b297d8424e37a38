import type { AttemptResult } from '@deedwire/webhook-sender';
import { failpoint } from '../kernel/failpoint.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { concludeAttempt, type ConcludeContext } from './conclude-attempt.ts';
import type { SendableTarget } from './lane-target.ts';
import type { Lane, QueuedDelivery } from './lane.ts';
import type { Slots } from './slots.ts';
import type { UnsettledResult } from './unsettled-result.ts';

/**
 * Makes one attempt. The dispatcher passes the same target object until the target of the lane changes, so that an
 * implementation can cache by identity. The promise must settle within the deadline of an attempt.
 *
 * @param attempt the number of the attempt, from 1
 */
export type Send = (target: SendableTarget, delivery: PendingDelivery, attempt: number) => Promise<AttemptResult>;

export interface AttemptsOptions extends ConcludeContext {
  send: Send;
  slots: Slots<Lane>;
  onResult: (result: UnsettledResult) => void;
}

/** Sends deliveries. Each holds a slot for the duration of its request. */
export class Attempts {
  readonly #options: AttemptsOptions;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** Sends the delivery to the target of its lane, which must have one. */
  start(queued: QueuedDelivery): void {
    const target = queued.lane.target.current;
    if (target === null) return;
    queued.isClaimed = true;
    queued.chargedMs = this.#options.slots.acquire(queued.lane);
    void this.#attempt(queued, target);
  }

  async #attempt(queued: QueuedDelivery, target: SendableTarget): Promise<void> {
    const { delivery, lane, chargedMs } = queued;
    let result: AttemptResult;
    try {
      const sending = this.#options.send(target, delivery, delivery.attempts + 1);
      failpoint('dispatch-after-send');
      result = await sending;
      failpoint('dispatch-after-response');
    } catch (error) {
      this.#options.onEvent({ kind: 'attempt-broken', alarm: true, delivery, error });
      result = this.#brokenResult();
    }
    const unsettled = concludeAttempt(this.#options, queued, target, result);
    this.#options.slots.release(lane, result.durationMs, chargedMs);
    this.#options.onResult(unsettled);
  }

  /** Counts an attempt that could not be made as a failed one, so that only this delivery is affected. */
  #brokenResult(): AttemptResult {
    const { clock } = this.#options;
    const startedAt = new Date(clock.nowMs() - clock.offsetMs);
    return { startedAt, durationMs: 0, responseStatus: null, error: 'PROTOCOL_ERROR', retryAfter: null };
  }
}
