import type { RecordId } from '@deedwire/domain';

/** A stretch of a list that is ordered from the newest record to the oldest. */
export interface PageQuery {
  /**
   * Only records with a smaller id. Null: from the newest. Written `id < coalesce($n, <the largest bigint>)`, which an index
   * serves whatever the plan; `$n is null or id < $n` would read every newer record once the plan is a generic one.
   */
  beforeId: RecordId | null;
  /** At most so many. Ask for one more than is shown, to know whether there is more. */
  limit: number;
}
