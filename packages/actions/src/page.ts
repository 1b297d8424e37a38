import { Buffer } from 'node:buffer';
import { parseRecordId, type RecordId } from '@deedwire/domain';
import type { PageQuery } from '@deedwire/store';
import { InvalidArgumentError } from './errors.ts';

/** One page of a list that is paged forward only. */
export interface Page<Node> {
  edges: { cursor: string; node: Node }[];
  /** The cursor of the last edge. Null when there is none. */
  endCursor: string | null;
  hasNextPage: boolean;
}

/** The arguments of a list, as a client sends them. */
export interface PageRequest {
  /** 1 to 100. Null or undefined: 20. */
  first?: number | null | undefined;
  /** A cursor of the same list. Null or undefined: from its beginning. */
  after?: string | null | undefined;
}

/** The lists that have cursors, and the type of their records. A cursor of one list is not accepted by another. */
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
 * Reads a page of a list.
 *
 * @param select returns the records behind `behindId` in the order of the list, at most `limit`
 * @throws InvalidArgumentError for a `first` out of bounds, or an `after` that is not a cursor of this list
 */
export async function readPage<List extends ListName, Row extends { id: RecordId<ListTypes[List]> }, Node>(
  list: List,
  request: PageRequest,
  select: (query: PageQuery<ListTypes[List]>) => Promise<Row[]>,
  toNode: (row: Row) => Node,
): Promise<Page<Node>> {
  const first = request.first ?? firstDefault;
  if (!Number.isInteger(first) || first < 1 || first > firstMax) {
    throw new InvalidArgumentError(`\`first\` must be 1 to ${firstMax}; it is ${first}.`);
  }
  const after = request.after ?? null;
  const rows = await select({ behindId: after === null ? null : readCursor(list, after), limit: first + 1 });
  const edges = rows.slice(0, first).map((row) => ({ cursor: formatCursor(list, row.id), node: toNode(row) }));
  return { edges, endCursor: edges.at(-1)?.cursor ?? null, hasNextPage: rows.length > first };
}

function formatCursor(list: ListName, id: RecordId<ListTypes[ListName]>): string {
  return Buffer.from(`${list}:${id}`).toString('base64url');
}

function readCursor<List extends ListName>(list: List, cursor: string): RecordId<ListTypes[List]> {
  const text = cursor.length > 100 ? '' : Buffer.from(cursor, 'base64url').toString('latin1');
  const id = parseRecordId<ListTypes[List]>(text.slice(list.length + 1));
  if (id === null || formatCursor(list, id) !== cursor) {
    throw new InvalidArgumentError(`\`after\` is not a cursor of \`${list}\`.`);
  }
  return id;
}
