import type { Clock } from '../kernel/clock.ts';
import { BatchedCalls } from './batched-calls.ts';
import type { Lane, QueuedDelivery } from './lane.ts';
import type { DispatchStorage } from './storage.ts';

const collectMs = 3;
const batchMax = 1_000;

export interface ClaimCounterOptions {
  storage: Pick<DispatchStorage, 'countClaims'>;
  clock: Pick<Clock, 'setTimer'>;
  onCounted: (lane: Lane) => void;
  /** Called once after each call. */
  afterCounted: () => void;
  onRefused: (lane: Lane, error: unknown) => void;
  onLocked: (lane: Lane, error: unknown) => void;
  onUnavailable: (error: unknown) => void;
}

interface CountRequest {
  readonly queued: QueuedDelivery;
  readonly epoch: number;
}

/** Counts claims in storage before the deliveries are sent, so that a delivery that ends the process is detected. */
export class ClaimCounter {
  readonly #calls: BatchedCalls<CountRequest, void>;

  constructor({ storage, clock, onCounted, afterCounted, onRefused, onLocked, onUnavailable }: ClaimCounterOptions) {
    this.#calls = new BatchedCalls({
      clock,
      collectMs,
      itemsMax: batchMax,
      call: (requests) => storage.countClaims(requests.map(({ queued }) => queued.delivery)),
      onDone(requests) {
        for (const request of requests) {
          request.queued.isCounted = true;
          if (endRequest(request)) onCounted(request.queued.lane);
        }
        afterCounted();
      },
      onRefused(request, error) {
        if (endRequest(request)) onRefused(request.queued.lane, error);
      },
      onLocked: (request, error) => onLocked(request.queued.lane, error),
      onUnavailable,
    });
  }

  /** No effect while a claim of the lane is being counted. */
  count(queued: QueuedDelivery): void {
    const { lane } = queued;
    if (lane.isCounting) return;
    lane.isCounting = true;
    this.#calls.add({ queued, epoch: lane.epoch });
  }

  stop(): void {
    this.#calls.stop();
  }
}

/** Returns false if the lane was closed since the request. */
function endRequest({ queued: { lane }, epoch }: CountRequest): boolean {
  if (lane.epoch !== epoch) return false;
  lane.isCounting = false;
  return true;
}
