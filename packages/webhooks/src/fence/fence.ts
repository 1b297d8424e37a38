import { onlyRow } from '@deedwire/store';

/**
 * The first part of a statement that writes for the worker `$1`, which joins it with everything it writes. Locks the row of the worker,
 * so that no other worker can declare it dead before the transaction ends. Empty if the worker is dead.
 */
export const liveWorker = 'worker as (select id from webhook_worker where id = $1 and alive for key share)';

/**
 * Returns the row of a fenced statement. `isAlive` is whether the worker is alive.
 *
 * @throws {FencedOutError} if the worker was declared dead. The statement wrote nothing.
 */
export function rowOfLiveWorker<Row extends { isAlive: boolean }>(rows: readonly Row[], workerId: WorkerId): Row {
  const row = onlyRow(rows);
  if (!row.isAlive) throw new FencedOutError(workerId);
  return row;
}

/** The worker was declared dead. Its statement wrote nothing, and other workers own its shards. */
export class FencedOutError extends Error {
  readonly code = 'FENCED_OUT';
  override readonly name = 'FencedOutError';

  constructor(workerId: WorkerId) {
    super(`Worker ${workerId} was declared dead. Its statement wrote nothing.`);
  }
}

// For the compiler only: no value has this property.
declare const workerId: unique symbol;

/** The id of a row of webhook_worker: `bigint` in decimal. A worker that was declared dead registers under a new id. */
export type WorkerId = string & { readonly [workerId]: true };
