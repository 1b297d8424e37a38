import type { RecordId, RecordTypeName } from '@deedwire/domain';

/** A page of a list that is ordered by id: newest first, unless the statement documents another order. */
export interface PageQuery<TypeName extends RecordTypeName> {
  /** Only records after this one in the list. Null starts at the beginning. */
  afterId: RecordId<TypeName> | null;
  /** The largest number of records. Request one more than you show, to know whether there is a next page. */
  limit: number;
}

/**
 * The last conditions and the order of a statement that reads a page, newest first. An index must begin with `owner` and end
 * with the id.
 *
 * With `owner = $1 … order by id desc`, PostgreSQL may scan the primary key and filter out the records of other owners, which
 * reads the whole table for an owner whose records are old. With `owner = any (array[$1])` only the index gives the order, in
 * every plan. `coalesce` lets the index scan start at the cursor in a generic plan too; `$2 is null or id < $2` does not.
 *
 * @param owner a column of type bigint, and its parameter
 * @param after the parameter that holds `afterId`
 */
export function keysetConditions(
  owner: readonly [column: string, parameter: string],
  id: string,
  after: string,
): string {
  const [column, parameter] = owner;
  return `
    ${column} = any (array[${parameter}::bigint]) and ${id} < coalesce(${after}::bigint, 9223372036854775807)
    order by ${column} desc, ${id} desc`;
}
