import type { Session } from '@deedwire/store';
import type { Partition } from './partitions.ts';

/**
 * Detaches a partition and drops it, or continues where an earlier call was interrupted. `concurrently` waits for
 * statements that use the table, without blocking others. The session's `lock_timeout` bounds each wait.
 *
 * The names come from the catalog and match a pattern, so they need no quotes.
 */
export async function dropPartition(session: Session, { name, table, state }: Partition): Promise<void> {
  if (state === 'attached') await session.execute(`alter table ${table} detach partition ${name} concurrently`);
  if (state === 'detaching') await session.execute(`alter table ${table} detach partition ${name} finalize`);
  await session.execute(`drop table ${name}`);
}
