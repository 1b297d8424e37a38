import type { DispatchEvent, Reports } from '../events.ts';
import type { DeliveryId } from '../kernel/ids.ts';
import { BatchedCalls } from './batched-calls.ts';
import { callReports } from './call-reports.ts';
import type { LaneScheduler } from './lane-scheduler.ts';
import type { QueuedDelivery } from './lane.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage } from './storage.ts';

export interface ClaimCounterOptions extends Reports<DispatchEvent> {
  storage: Pick<DispatchStorage, 'countClaims'>;
  clock: SteadyClock;
  scheduler: LaneScheduler;
  /** The claim is counted: the request can start. */
  onCounted: (queued: QueuedDelivery) => void;
  /** The claim is not counted: the delivery is not sent now. */
  onNotCounted: (queued: QueuedDelivery) => void;
  /** Called once after the results of one call. */
  afterResults: () => void;
}

/** Counts claims of deliveries that hold a slot, directly before their requests. */
export class ClaimCounter {
  readonly #options: ClaimCounterOptions;
  readonly #calls: BatchedCalls<QueuedDelivery, ReadonlySet<DeliveryId>>;
  readonly #counting = new Set<QueuedDelivery>();

  constructor(options: ClaimCounterOptions) {
    this.#options = options;
    const { storage, clock, scheduler, onEvent, onCounted, onNotCounted, afterResults } = options;
    const call = 'countClaims';
    this.#calls = new BatchedCalls({
      clock,
      collectMs: 3,
      itemsMax: 1_000,
      call: (batch) => storage.countClaims(batch.map(({ delivery }) => delivery)),
      onDone: (batch, counted) => {
        for (const queued of batch) {
          this.#counting.delete(queued);
          queued.isCounted = counted.has(queued.delivery.deliveryId);
          if (queued.isCounted) onCounted(queued);
          else {
            scheduler.readAgain(queued.lane);
            onNotCounted(queued);
          }
        }
        afterResults();
      },
      onRefused: (queued, error) => {
        this.#counting.delete(queued);
        scheduler.refuse(queued.lane, call, error);
        onNotCounted(queued);
        afterResults();
      },
      onLocked: ({ lane }, error) => onEvent({ kind: 'storage-locked', call, lane: lane.id, error }),
      ...callReports(call, onEvent),
    });
  }

  count(queued: QueuedDelivery): void {
    queued.lane.countClaim(queued);
    this.#counting.add(queued);
    this.#calls.add(queued);
  }

  /** What is being counted does not start. */
  stop(): void {
    this.#calls.stop();
    for (const queued of this.#counting) this.#options.onNotCounted(queued);
    this.#counting.clear();
  }
}
