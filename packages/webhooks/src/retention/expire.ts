import { idAt } from '@deedwire/core';
import { LockTimeoutError, type Store } from '@deedwire/store';
import type { RetentionEvent, Reports } from '../events.ts';
import type { ReplayId } from '../kernel/ids.ts';
import {
  type Day,
  startOf,
  isDue,
  parsePartition,
  type RetentionBounds,
  retentionBounds,
  type RetentionDays,
} from './partitions.ts';
import {
  advanceExpiredBefore,
  batchRows,
  deleteExpiredQueueEntries,
  deleteOldFailures,
  deleteOldReplays,
  deleteOldStatistics,
  expirePendingDeliveries,
  type PendingKey,
  type QueueKey,
  type Batch,
} from './sql/expired-rows.ts';
import { dropDueExchangePartition, dropDuePartition, selectDuePartitions } from './sql/partitions.ts';

export interface ExpireOptions extends Reports<RetentionEvent> {
  store: Store;
  retentionDays: RetentionDays;
  /** Resolves with true after `ms`, or with false as soon as this process stops. */
  wait: (ms: number) => Promise<boolean>;
}

// The longest duration of a statement. After it, no statement reads the expired partition.
const quietMs = 10_000;
// Each try can delay all that use the table by its lock timeout of 100 ms, so there are few, with pauses of 1, 2, 4 and 8 s.
const dropTries = 5;
const firstPauseMs = 1000;
// A partition that is this many days late needs an operator.
const overdueDays = 3;

const dayMs = 86_400_000;
// Nothing shows retries.
const retryDays = 1;
const statisticsDays = 7;

// The first millisecond that ids can represent.
const firstMs = Date.UTC(2026, 0, 1) + 1;

/** The first time of the day that ids can represent. Ids drawn before the day are smaller than its id. */
function firstTimeOf(day: Day): Date {
  return new Date(Math.max(firstMs, startOf(day).getTime()));
}

function daysBefore(now: Date, days: number): Date {
  return new Date(Math.max(firstMs, now.getTime() - days * dayMs));
}

/**
 * Expires entries and deliveries that have reached the end of retention, then drops their partitions. Throws if a row is
 * locked; the next run continues.
 *
 * The order matters. Queue entries are deleted before pending deliveries, so that fan-out writes no more of them. Both are
 * deleted before payloads. Failures are deleted after deliveries. Counts of hours come last, because nothing depends on them.
 */
export async function expire(options: ExpireOptions, now: Date): Promise<void> {
  const { store, retentionDays, wait, onEvent } = options;
  const bounds = retentionBounds(now, retentionDays);
  const deliveriesBefore = idAt<'WebhookDelivery'>(firstTimeOf(bounds.expired));
  const eventsBefore = idAt<'WebhookEvent'>(firstTimeOf(bounds.bodies));
  await advanceExpiredBefore(store, deliveriesBefore);

  const replaysEndedBefore = daysBefore(now, retentionDays.replays);
  const retriesBefore = idAt<'WebhookReplay'>(daysBefore(now, retryDays));
  await walk<ReplayId>((after) => deleteOldReplays(store, { replaysEndedBefore, retriesBefore }, after));

  const entries = await walk<QueueKey>((after) => deleteExpiredQueueEntries(store, eventsBefore, after));
  if (entries.changed > 0) onEvent({ kind: 'events-expired', alarm: true, count: entries.changed });
  requireAll(entries, 'queue entries');
  const deliveries = await walk<PendingKey>((after) =>
    expirePendingDeliveries(store, { deliveriesBefore, eventsBefore }, after),
  );
  if (deliveries.changed > 0) onEvent({ kind: 'deliveries-expired', count: deliveries.changed });
  requireAll(deliveries, 'pending deliveries');

  const due = await selectDuePartitions(store, retentionDays);
  if (due.length > 0) {
    if (!(await wait(quietMs))) return;
    const { history, exchanges } = retentionDays;
    const late = { history: history + overdueDays, exchanges: exchanges + overdueDays };
    reportOverdue(due, retentionBounds(now, late), onEvent);
    if (!(await dropAll(options, () => dropDuePartition(store, history)))) return;
    if (!(await dropAll(options, () => dropDueExchangePartition(store, exchanges)))) return;
  }
  const droppedBefore = idAt<'WebhookDelivery'>(firstTimeOf(bounds.deliveries));
  await walk<PendingKey>((after) => deleteOldFailures(store, droppedBefore, after));

  const hoursBefore = daysBefore(now, statisticsDays);
  while ((await deleteOldStatistics(store, hoursBefore)) === batchRows) if (!(await wait(0))) return;
}

/**
 * Returns false if this process stops meanwhile. Throws if transactions use a table during all tries; the next run continues.
 *
 * @param dropNext drops a partition and returns its name, or null if none is due
 */
async function dropAll({ wait, onEvent }: ExpireOptions, dropNext: () => Promise<string | null>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      const name = await dropNext();
      if (name === null) return true;
      onEvent({ kind: 'partition-dropped', name });
      tries = 0;
      if (!(await wait(0))) return false;
    } catch (error) {
      if (!(error instanceof LockTimeoutError) || tries >= dropTries) throw error;
      if (!(await wait(firstPauseMs * 2 ** (tries - 1)))) return false;
    }
  }
}

function reportOverdue(due: readonly string[], bounds: RetentionBounds, onEvent: ExpireOptions['onEvent']): void {
  const names = due.filter((name) => {
    const partition = parsePartition(name);
    return partition !== null && isDue(partition, bounds);
  });
  if (names.length > 0) onEvent({ kind: 'partitions-overdue', alarm: true, names });
}

function requireAll({ skipped }: { skipped: number }, rows: string): void {
  if (skipped > 0) throw new Error(`${skipped} expired ${rows} are locked by other statements.`);
}

/** Runs a batch statement over a whole table. Adds up the changed and the skipped rows. */
export async function walk<Key>(
  batch: (after: Key | null) => Promise<Batch<Key>>,
): Promise<{ changed: number; skipped: number }> {
  let changed = 0;
  let skipped = 0;
  let after: Key | null = null;
  do {
    const result: Batch<Key> = await batch(after);
    changed += result.changed;
    skipped += result.skipped;
    after = result.next;
  } while (after !== null);
  return { changed, skipped };
}
