import { onlyRow } from '@deedwire/store';
import { FencedOutError } from './fenced-out-error.ts';
import type { WorkerId } from './worker-id.ts';

/**
 * Returns the row of a fenced statement. One that writes locks the row of the worker and joins it with everything it writes.
 * `isAlive` is whether the worker is alive.
 *
 * @throws {FencedOutError} if the worker was declared dead. The statement wrote nothing.
 */
export function rowOfLiveWorker<Row extends { isAlive: boolean }>(rows: readonly Row[], workerId: WorkerId): Row {
  const row = onlyRow(rows);
  if (!row.isAlive) throw new FencedOutError(workerId);
  return row;
}
