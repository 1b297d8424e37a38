import { originOf, type RequestHeader, requestHeaderAssociatedData, secretAssociatedData } from '@deedwire/core';
import { AccountAwayError, type Store, StoreUnavailableError, violatesPrimaryKey } from '@deedwire/store';
import type { DispatchStorageEvent, Reports, WritesForWorker } from '../events.ts';
import { FencedOutError, type WorkerId } from '../fence/fence.ts';
import { failpoint } from '../kernel/failpoint.ts';
import { type SubscriptionId, shardOf } from '../kernel/ids.ts';
import { compareIds } from '../kernel/sql.ts';
import type { LaneTarget } from './lane-target.ts';
import { selectTargets, type StoredTarget } from './sql/lanes.ts';
import { type LateSuccess, recordLateSuccesses } from './sql/late-successes.ts';
import { countClaims, refillLane, walkLane } from './sql/pending-deliveries.ts';
import { renumberPending } from './sql/renumbered.ts';
import { hastenSubscriptions, pauseSubscriptions, settle, type SettledPositions } from './sql/results.ts';
import type { DeliveryKey, DispatchStorage, Settlement, SettleResult, SettleResults } from './storage.ts';

/** If the worker is fenced out, results count as stale: the new owner sends them again. */
export interface DispatchStorageOptions extends Reports<DispatchStorageEvent>, WritesForWorker {
  store: Store;
  /** Null if the ciphertext cannot be decrypted with this associated data. */
  openSecret: (ciphertext: Buffer, associatedData: string) => string | null;
}

/** The storage of dispatch in PostgreSQL. */
export function createDispatchStorage(options: DispatchStorageOptions): DispatchStorage {
  const { store, onEvent } = options;
  const onPayloadMissing = ({ subscriptionId: lane, deliveryId }: DeliveryKey): void =>
    onEvent({ kind: 'payload-missing', alarm: true, lane, deliveryId });
  return {
    refill: (lane, read) => ifAlive(options, (id) => refillLane(store, id, lane, read, onPayloadMissing)),

    walk: (lane, read) => ifAlive(options, (id) => walkLane(store, id, lane, read, onPayloadMissing)),

    async targets(lanes) {
      const targets = new Map<SubscriptionId, LaneTarget>();
      const stored = await ifAlive(options, (id) => selectTargets(store, id, lanes));
      for (const target of stored) targets.set(target.subscriptionId, openTarget(options, target));
      return targets;
    },

    settle: (batch) => settleFenced(options, batch),

    countClaims: (deliveries) => ifAlive(options, (id) => countClaims(store, id, deliveries)),
  };
}

function openTarget({ openSecret }: DispatchStorageOptions, stored: StoredTarget): LaneTarget {
  const { secretCiphertext, nextSecretCiphertext, requestHeader: _, ...target } = stored;
  const open = (ciphertext: Buffer): string | null =>
    openSecret(ciphertext, secretAssociatedData(target.subscriptionId));
  const nextSecret = nextSecretCiphertext === null ? null : open(nextSecretCiphertext);
  const header = openHeader(openSecret, stored);
  const isOpen = (nextSecretCiphertext === null || nextSecret !== null) && header !== 'unreadable';
  return {
    ...target,
    secret: isOpen ? open(secretCiphertext) : null,
    nextSecret,
    requestHeader: typeof header === 'string' ? null : header,
    isHeaderDropped: header === 'dropped',
  };
}

/** The origin of the callback URL is part of the associated data: for another origin, nothing can be decrypted. */
function openHeader(
  openSecret: DispatchStorageOptions['openSecret'],
  { subscriptionId, callbackUrl, requestHeader }: StoredTarget,
): RequestHeader | 'dropped' | 'unreadable' | null {
  if (requestHeader === null) return null;
  const { name, ciphertext } = requestHeader;
  const origin = originOf(callbackUrl);
  if (ciphertext === null || origin === null || requestHeader.origin !== origin) return 'dropped';
  const value = openSecret(ciphertext, requestHeaderAssociatedData(subscriptionId, name, origin));
  return value === null ? 'unreadable' : { name, value };
}

/** Makes a call without which no request starts. When the worker was declared dead, its lanes are about to be closed. */
async function ifAlive<Result>(
  { workerId, onFenced }: DispatchStorageOptions,
  call: (workerId: WorkerId) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(workerId());
  } catch (error) {
    if (!(error instanceof FencedOutError)) throw error;
    onFenced();
    throw new StoreUnavailableError(error);
  }
}

async function settleFenced(options: DispatchStorageOptions, batch: readonly Settlement[]): Promise<SettleResults> {
  try {
    return await settleBatch(options, batch);
  } catch (error) {
    if (!(error instanceof FencedOutError)) throw error;
    options.onFenced();
    return new Map();
  }
}

async function settleBatch(
  { store, workerId, onEvent }: DispatchStorageOptions,
  batch: readonly Settlement[],
): Promise<SettleResults> {
  const id = workerId();
  const sorted = batch.toSorted((a, b) => compareDeliveries(a.delivery, b.delivery));
  failpoint('settle-before-write');
  const results = toResults(sorted, await settleNumbered(store, id, sorted));
  const late = sorted.flatMap((settlement) => (results.get(settlement) === 'stale' ? lateSuccess(settlement) : []));
  if (late.length > 0) {
    const deliveries = await recordLateSuccesses(store, id, late);
    if (deliveries.length > 0) onEvent({ kind: 'late-success-recorded', deliveries });
    const recorded = new Set(deliveries);
    for (const settlement of sorted)
      if (results.get(settlement) === 'stale' && recorded.has(settlement.delivery.deliveryId))
        results.set(settlement, 'late');
  }
  failpoint('settle-after-write');
  return results;
}

/**
 * A late success can take the number of the next attempt of a delivery while a replay queues the delivery. The results of such
 * deliveries are then stale: storage records a success with the next number, and a failure leads to another attempt.
 */
async function settleNumbered(
  store: Store,
  workerId: WorkerId,
  batch: readonly Settlement[],
): Promise<SettledPositions> {
  try {
    return await settleWithChanges(store, workerId, batch);
  } catch (error) {
    // Frozen after the statement that hastens began. A repetition leaves the account out.
    if (error instanceof AccountAwayError) return settleWithChanges(store, workerId, batch);
    if (!violatesPrimaryKey(error, 'webhook_attempt')) throw error;
    const keys = batch.map(({ delivery }) => delivery);
    if ((await renumberPending(store, workerId, keys)) === 0) throw error;
    return settleWithChanges(store, workerId, batch);
  }
}

/** One statement, unless a subscription must be paused or hastened: a result and what follows from it are recorded together. */
async function settleWithChanges(
  store: Store,
  workerId: WorkerId,
  batch: readonly Settlement[],
): Promise<SettledPositions> {
  if (batch.every(({ pause, hastens }) => pause === null && !hastens)) return settle(store, workerId, batch);
  return store.transaction(async (transaction) => {
    const positions = await settle(transaction, workerId, batch);
    const settled = batch.filter((_, index) => positions.settled?.has(index + 1) !== false);
    const pausing = settled.filter(({ pause }) => pause !== null);
    if (pausing.length > 0) await pauseSubscriptions(transaction, workerId, pausing);
    const hastening = settled.filter(({ hastens }) => hastens);
    if (hastening.length > 0) await hastenSubscriptions(transaction, workerId, hastening);
    for (const { delivery } of hastening) transaction.notifyAfterCommit(String(shardOf(delivery.accountId)));
    return positions;
  });
}

function toResults(batch: readonly Settlement[], { settled, locked }: SettledPositions): Map<Settlement, SettleResult> {
  const results = new Map<Settlement, SettleResult>();
  for (const [index, settlement] of batch.entries()) {
    const position = index + 1;
    if (settled?.has(position) !== false) results.set(settlement, 'settled');
    else results.set(settlement, locked.has(position) ? 'locked' : 'stale');
  }
  return results;
}

function lateSuccess({ delivery, attempt, next }: Settlement): LateSuccess[] {
  if (attempt === null || next.kind !== 'delivered') return [];
  return [{ subscriptionId: delivery.subscriptionId, deliveryId: delivery.deliveryId, attempt }];
}

/** The order of pending deliveries in their primary key. */
function compareDeliveries(a: DeliveryKey, b: DeliveryKey): number {
  return compareIds(a.subscriptionId, b.subscriptionId) || compareIds(a.deliveryId, b.deliveryId);
}
