import type { RecordId } from '@deedwire/domain';
import type { Store } from '@deedwire/store';
import {
  finishDeliveries,
  insertAttempts,
  leaseLanes,
  lockHeldLanes,
  pauseGoneSubscriptions,
  refreshLanes,
  renewLanes,
  rescheduleDeliveries,
  selectDueDeliveries,
  selectNextLaneDue,
  type AttemptInput,
  type DueDeliveryRow,
  type LaneLease,
} from '@deedwire/store/webhook-dispatch';

/** What became of a delivery, ready to be written. */
export interface Settlement {
  lane: LaneLease;
  deliveryId: RecordId<'WebhookDelivery'>;
  /** Null: no attempt was made, and none is counted. */
  attempt: AttemptInput | null;
  next: { kind: 'finished'; status: 'DELIVERED' | 'FAILED' } | { kind: 'due'; attempts: number; delayMs: number };
  /** The callback URL that said that it is gone: its subscription is paused. Null: it did not. */
  goneUrl: string | null;
}

/** All that dispatch needs of storage. Each call is one round trip or one transaction. */
export interface DispatchStore {
  /** Takes free lanes with something due. */
  lease(limit: number): Promise<LaneLease[]>;
  /** Extends leases. A lane that is not returned is not held any more. */
  renew(lanes: readonly LaneLease[]): Promise<LaneLease[]>;
  /** What is due in held lanes and not in flight. */
  take(
    lanes: readonly { subscriptionId: RecordId<'WebhookSubscription'>; slots: number }[],
    inFlight: readonly RecordId<'WebhookDelivery'>[],
  ): Promise<DueDeliveryRow[]>;
  /**
   * Writes what became of deliveries, and gives lanes back. What belongs to a lane that another has taken over since is left
   * out.
   *
   * @param options.isLast the worker stops: notifies the others that the released lanes are free
   * @returns the deliveries that were left out
   */
  settle(
    settlements: readonly Settlement[],
    released: readonly LaneLease[],
    options?: { isLast: boolean },
  ): Promise<RecordId<'WebhookDelivery'>[]>;
  /** Milliseconds until a lane is due; null when none will be. */
  nextDueInMs(): Promise<number | null>;
}

export function createDispatchStore(store: Store, owner: string, leaseSeconds: number): DispatchStore {
  return {
    lease: (limit) => leaseLanes(store, { owner, forSeconds: leaseSeconds, limit }),
    renew: (lanes) => renewLanes(store, lanes, leaseSeconds),
    take: (lanes, inFlight) => selectDueDeliveries(store, lanes, inFlight),
    settle: (settlements, released, options) => settle(store, settlements, released, options),
    nextDueInMs: () => selectNextLaneDue(store),
  };
}

async function settle(
  store: Store,
  settlements: readonly Settlement[],
  released: readonly LaneLease[],
  options?: { isLast: boolean },
): Promise<RecordId<'WebhookDelivery'>[]> {
  return store.transaction(async (transaction) => {
    const lanes = new Map([...settlements.map(({ lane }) => lane), ...released].map((lane) => [laneKey(lane), lane]));
    const held = new Set((await lockHeldLanes(transaction, [...lanes.values()])).map(laneKey));
    const current = settlements.filter(({ lane }) => held.has(laneKey(lane)));

    const attempts = current.flatMap(({ attempt }) => (attempt === null ? [] : [attempt]));
    if (attempts.length > 0) await insertAttempts(transaction, attempts);

    const finished = current.flatMap(({ deliveryId, next }) =>
      next.kind === 'finished' ? [{ id: deliveryId, status: next.status }] : [],
    );
    if (finished.length > 0) await finishDeliveries(transaction, finished);

    const due = current.flatMap(({ deliveryId, next }) =>
      next.kind === 'due' ? [{ id: deliveryId, attempts: next.attempts, delayMs: next.delayMs }] : [],
    );
    if (due.length > 0) await rescheduleDeliveries(transaction, due);

    const gone = current.flatMap(({ lane, goneUrl }) =>
      goneUrl === null ? [] : [{ id: lane.subscriptionId, callbackUrl: goneUrl }],
    );
    if (gone.length > 0) await pauseGoneSubscriptions(transaction, gone);

    const ids = (leases: readonly LaneLease[]): RecordId<'WebhookSubscription'>[] =>
      leases.filter((lane) => held.has(laneKey(lane))).map(({ subscriptionId }) => subscriptionId);
    if (options?.isLast) transaction.notifyAfterCommit();
    await refreshLanes(transaction, ids([...lanes.values()]), ids(released));
    return settlements.filter(({ lane }) => !held.has(laneKey(lane))).map(({ deliveryId }) => deliveryId);
  });
}

/** Names one ownership of one lane. */
export function laneKey(lane: LaneLease): string {
  return `${lane.subscriptionId}/${lane.fencingToken}`;
}
