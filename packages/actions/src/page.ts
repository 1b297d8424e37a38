import { Buffer } from 'node:buffer';
import { parseRecordId, type RecordId } from '@deedwire/domain';
import type { PageQuery } from '@deedwire/store';
import { InvalidArgumentError } from './errors.ts';

/** One page of a list that is paged forward only. */
export interface Page<Node> {
  edges: { cursor: string; node: Node }[];
  /** The cursor of the last edge. Null if the page is empty. */
  endCursor: string | null;
  hasNextPage: boolean;
  /** Whether the page was requested with a cursor. */
  hasPreviousPage: boolean;
}

/** The paging arguments of a list, as sent by a client. */
export interface PageRequest {
  /** 1 to 100. Null or undefined defaults to 20. */
  first?: number | null | undefined;
  /** A cursor of the same list. Null or undefined starts at the beginning. */
  after?: string | null | undefined;
}

/** The lists that have cursors, with the type of their records. A list does not accept a cursor of another list. */
interface ListTypes {
  members: 'TeamMember';
  referrals: 'Referral';
  webhookDeliveries: 'WebhookDelivery';
  webhookSubscriptions: 'WebhookSubscription';
}

export type ListName = keyof ListTypes;

const firstDefault = 20;
const firstMax = 100;

/**
 * Reads a page of a list by keyset: the cursor holds the id of the last record.
 *
 * @param select returns at most `limit` records after `afterId`, in the order of the list
 * @throws {InvalidArgumentError} if `first` is out of range, or `after` is not a cursor of this list
 */
export async function keysetPage<List extends ListName, Row extends { id: RecordId<ListTypes[List]> }, Node>(
  list: List,
  request: PageRequest,
  select: (query: PageQuery<ListTypes[List]>) => Promise<readonly Row[]>,
  toNode: (row: Row) => Node,
): Promise<Page<Node>> {
  const first = request.first ?? firstDefault;
  if (!Number.isInteger(first) || first < 1 || first > firstMax) {
    throw new InvalidArgumentError(`\`first\` must be 1 to ${firstMax}; it is ${first}.`);
  }
  const after = request.after ?? null;
  // One more than the page shows, to know whether there is a next page.
  const rows = await select({ afterId: after === null ? null : parseCursor(list, after), limit: first + 1 });
  const edges = rows.slice(0, first).map((row) => ({ cursor: formatCursor(list, row.id), node: toNode(row) }));
  return {
    edges,
    endCursor: edges.at(-1)?.cursor ?? null,
    hasNextPage: rows.length > first,
    hasPreviousPage: after !== null,
  };
}

function formatCursor(list: ListName, id: RecordId<ListTypes[ListName]>): string {
  return Buffer.from(`${list}:${id}`).toString('base64url');
}

function parseCursor<List extends ListName>(list: List, cursor: string): RecordId<ListTypes[List]> {
  const text = cursor.length > 100 ? '' : Buffer.from(cursor, 'base64url').toString('latin1');
  const id = parseRecordId<ListTypes[List]>(text.slice(list.length + 1));
  if (id === null || formatCursor(list, id) !== cursor) {
    throw new InvalidArgumentError(`\`after\` is not a cursor of \`${list}\`.`);
  }
  return id;
}
