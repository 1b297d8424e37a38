import type { Clock } from '../kernel/clock.ts';
import type { SubscriptionId } from '../kernel/ids.ts';
import { BatchedCalls } from './batched-calls.ts';
import type { LaneTarget } from './lane-target.ts';
import type { Lane } from './lane.ts';
import type { DispatchStorage } from './storage.ts';

const collectMs = 1;
// Small, because each target has a secret to decrypt.
const batchMax = 128;

export interface TargetReaderOptions {
  storage: Pick<DispatchStorage, 'targets'>;
  clock: Pick<Clock, 'setTimer'>;
  /** The target is null if the subscription is paused or deleted. */
  onTarget: (lane: Lane, target: LaneTarget | null) => void;
  /** Called once after each call. */
  afterTargets: () => void;
  onRefused: (lane: Lane, error: unknown) => void;
  onLocked: (lane: Lane, error: unknown) => void;
  onUnavailable: (error: unknown) => void;
}

interface TargetRequest {
  readonly lane: Lane;
  readonly epoch: number;
}

/** Reads the targets of many lanes with one call. */
export class TargetReader {
  readonly #calls: BatchedCalls<TargetRequest, ReadonlyMap<SubscriptionId, LaneTarget>>;

  constructor({ storage, clock, onTarget, afterTargets, onRefused, onLocked, onUnavailable }: TargetReaderOptions) {
    this.#calls = new BatchedCalls({
      clock,
      collectMs,
      itemsMax: batchMax,
      call: (requests) => storage.targets(requests.map(({ lane }) => lane.id)),
      onDone(requests, targets) {
        for (const request of requests) {
          if (endRequest(request)) onTarget(request.lane, targets.get(request.lane.id) ?? null);
        }
        afterTargets();
      },
      onRefused(request, error) {
        if (endRequest(request)) onRefused(request.lane, error);
      },
      onLocked: (request, error) => onLocked(request.lane, error),
      onUnavailable,
    });
  }

  /** No effect if the target of the lane is being read. */
  request(lane: Lane): void {
    if (lane.isReadingTarget) return;
    lane.isReadingTarget = true;
    this.#calls.add({ lane, epoch: lane.targetEpoch });
  }

  stop(): void {
    this.#calls.stop();
  }
}

/** Returns false if the target may have changed since the request, so that its result must be ignored. */
function endRequest({ lane, epoch }: TargetRequest): boolean {
  if (lane.targetEpoch !== epoch) return false;
  lane.isReadingTarget = false;
  return true;
}
