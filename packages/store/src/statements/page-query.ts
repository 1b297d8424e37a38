import type { RecordId, RecordTypeName } from '@deedwire/core';

/** A page of a list that is ordered by id: newest first, unless the statement documents another order. */
export interface PageQuery<TypeName extends RecordTypeName> {
  /** Only records after this one in the list. Null starts at the beginning. */
  afterId: RecordId<TypeName> | null;
  /** The largest number of records. Request one more than you show, to know whether there is a next page. */
  limit: number;
}

/** The end of a statement that reads a page, but for `limit $2`. */
export interface PageConditions {
  /** Completes the name of the statement. */
  scope: string;
  /** The last conditions, and the order. */
  conditions: string;
  /** Of `$1` to `$3`. */
  values: readonly [afterId: string | null, limit: number, owner: string | null];
}

/**
 * The end of a statement that reads a page, newest first. An index must begin with the column of the owner and end with the id.
 *
 * With `owner = $3 … order by id desc`, PostgreSQL may scan the primary key and filter out the records of other owners, which
 * reads the whole table for an owner whose records are old. With `owner = any (array[$3])` only the index gives the order, in
 * every plan. `coalesce` lets the index scan start at the cursor in a generic plan too; `$1 is null or id < $1` does not.
 *
 * @param owner a column of type bigint, and whose records to read. Null reads those of all, by the primary key.
 */
export function pageConditions(
  [column, owner]: readonly [column: string, owner: string | null],
  id: string,
  { afterId, limit }: { afterId: string | null; limit: number },
): PageConditions {
  const [scope, ofOwner, order] =
    owner === null
      ? ['', '$3::bigint is null', '']
      : ['-of-owner', `${column} = any (array[$3::bigint])`, `${column} desc, `];
  const conditions = `${ofOwner} and ${id} < coalesce($1::bigint, 9223372036854775807) order by ${order}${id} desc`;
  return { scope, conditions, values: [afterId, limit, owner] };
}
