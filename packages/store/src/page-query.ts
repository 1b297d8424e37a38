import type { RecordId } from '@deedwire/domain';

/** A stretch of a list that is ordered by id: from the newest record to the oldest, unless the statement says otherwise. */
export interface PageQuery {
  /**
   * Only records that come behind this one in the list. Null: from its beginning. Written `id < coalesce($n, <the largest bigint>)`, which an index
   * serves whatever the plan; `$n is null or id < $n` would read every newer record once the plan is a generic one.
   */
  behindId: RecordId | null;
  /** At most so many. Ask for one more than is shown, to know whether there is more. */
  limit: number;
}
