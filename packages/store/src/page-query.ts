import type { RecordId, RecordTypeName } from '@deedwire/domain';

/** A stretch of a list that is ordered by id: from the newest record to the oldest, unless the statement says otherwise. */
export interface PageQuery<TypeName extends RecordTypeName> {
  /** Only records that come behind this one in the list. Null: from its beginning. */
  behindId: RecordId<TypeName> | null;
  /** At most so many. Ask for one more than is shown, to know whether there is more. */
  limit: number;
}

/**
 * The end of a statement that reads a page, newest first, by an index that begins with `owner` and ends with the id: its
 * last conditions and its order.
 *
 * `owner = $1 … order by id desc` would leave PostgreSQL free to walk down the primary key and drop the records of others,
 * which for one whose own are old means to read the whole table. Where the owner is one of a list, only the index gives the
 * order, whatever the plan. With `coalesce` the page begins where the cursor points also in a generic plan; `$2 is null or
 * id < $2` would not.
 *
 * @param owner a column of type bigint, with its parameter
 * @param behind the parameter that holds `behindId`
 */
export function readsPage(owner: readonly [column: string, parameter: string], id: string, behind: string): string {
  const [column, parameter] = owner;
  return `
    ${column} = any (array[${parameter}::bigint]) and ${id} < coalesce(${behind}::bigint, 9223372036854775807)
    order by ${column} desc, ${id} desc`;
}
