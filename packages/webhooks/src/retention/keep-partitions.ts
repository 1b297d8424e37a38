import type { Store } from '@deedwire/store';
import { selectTime } from '@deedwire/store/time';
import type { RetentionEvent, Reports } from '../events.ts';
import { dayOf, daysAhead, type PartitionedTable } from './partitions.ts';
import { createPartitions, selectPartitions } from './sql/partitions.ts';

const wantedDaysAhead = 60;
const alarmDaysAhead = 14;

/**
 * Returns for how many days after today the tables have partitions. -1 if one is missing today.
 *
 * @param tables defaults to all that are partitioned
 */
export async function readDaysAhead(store: Store, tables?: readonly PartitionedTable[]): Promise<number> {
  const [partitions, now] = [await selectPartitions(store), await selectTime(store)];
  return daysAhead(partitions, dayOf(now), tables);
}

/** Creates partitions for the next 60 days. One transaction per day, so that locks are held for a short time. */
export async function keepPartitions(store: Store, onEvent: Reports<RetentionEvent>['onEvent']): Promise<void> {
  const before = await readDaysAhead(store);
  try {
    for (let day = Math.max(0, before + 1); day <= wantedDaysAhead; day += 1) {
      await store.transaction((transaction) => createPartitions(transaction, day));
    }
  } finally {
    const after = await readDaysAhead(store);
    if (after > before) onEvent({ kind: 'partitions-created', daysAhead: after });
    if (after < alarmDaysAhead) onEvent({ kind: 'partitions-short', alarm: true, daysAhead: after });
  }
}
