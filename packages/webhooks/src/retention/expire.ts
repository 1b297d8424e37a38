import { idAt } from '@deedwire/domain';
import type { Session, Store } from '@deedwire/store';
import { type Day, startOf } from './days.ts';
import { dropPartition } from './drop-partition.ts';
import type { OnRetentionEvent } from './events.ts';
import { duePartitions, type Partition, retentionBounds } from './partitions.ts';
import { advanceExpiredBefore } from './sql/advance-expired-before.ts';
import { deleteExpiredQueueEntries, type QueueKey } from './sql/delete-expired-queue-entries.ts';
import { deleteOldFailures } from './sql/delete-old-failures.ts';
import { expirePendingDeliveries, type PendingKey } from './sql/expire-pending-deliveries.ts';
import { selectPartitions } from './sql/select-partitions.ts';
import { walk } from './walk.ts';

export interface ExpireOptions {
  store: Store;
  /** Used to detach partitions. Its lock_timeout is short. */
  session: Session;
  retentionDays: number;
  /** Resolves with true after `ms`, or with false as soon as this process stops. */
  wait: (ms: number) => Promise<boolean>;
  onEvent: OnRetentionEvent;
}

// The longest duration of a statement. After it, no statement reads the expired partition.
const quietMs = 10_000;
// A partition that is this many days late needs an operator.
const overdueDays = 3;

// The first millisecond that ids can represent.
const firstMs = Date.UTC(2026, 0, 1) + 1;

/** The first time of the day that ids can represent. Ids drawn before the day are smaller than its id. */
function firstTimeOf(day: Day): Date {
  return new Date(Math.max(firstMs, startOf(day).getTime()));
}

/**
 * Expires entries and deliveries that have reached the end of retention, then drops their partitions. Throws if a row is
 * locked; the next run continues.
 *
 * The order matters. Queue entries are deleted before pending deliveries, so that fan-out writes no more of them. Both are
 * deleted before payloads. Failures are deleted after deliveries.
 */
export async function expire(options: ExpireOptions, now: Date): Promise<void> {
  const { store, session, retentionDays, wait, onEvent } = options;
  const bounds = retentionBounds(now, retentionDays);
  const deliveriesBefore = idAt<'WebhookDelivery'>(firstTimeOf(bounds.expired));
  const eventsBefore = idAt<'WebhookEvent'>(firstTimeOf(bounds.bodies));
  await advanceExpiredBefore(store, deliveriesBefore);

  const entries = await walk<QueueKey>((after) => deleteExpiredQueueEntries(store, eventsBefore, after));
  if (entries.changed > 0) onEvent({ kind: 'events-expired', alarm: true, count: entries.changed });
  requireAll(entries, 'queue entries');
  const deliveries = await walk<PendingKey>((after) =>
    expirePendingDeliveries(store, { deliveriesBefore, eventsBefore }, after),
  );
  if (deliveries.changed > 0) onEvent({ kind: 'deliveries-expired', count: deliveries.changed });
  requireAll(deliveries, 'pending deliveries');

  const due = duePartitions(await selectPartitions(store), bounds);
  if (due.length > 0 && !(await wait(quietMs))) return;
  reportOverdue(due, retentionBounds(now, retentionDays + overdueDays), onEvent);
  for (const partition of due) {
    await dropPartition(session, partition);
    onEvent({ kind: 'partition-dropped', name: partition.name });
    if (!(await wait(0))) return;
  }
  const droppedBefore = idAt<'WebhookDelivery'>(firstTimeOf(bounds.deliveries));
  await walk<PendingKey>((after) => deleteOldFailures(store, droppedBefore, after));
}

function requireAll({ skipped }: { skipped: number }, rows: string): void {
  if (skipped > 0) throw new Error(`${skipped} expired ${rows} are locked by other statements.`);
}

function reportOverdue(
  due: readonly Partition[],
  bounds: ReturnType<typeof retentionBounds>,
  onEvent: OnRetentionEvent,
): void {
  const names = duePartitions(due, bounds).map(({ name }) => name);
  if (names.length > 0) onEvent({ kind: 'partitions-overdue', alarm: true, names });
}
