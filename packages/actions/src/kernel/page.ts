import { Buffer } from 'node:buffer';
import { parseRecordId, type RecordId } from '@deedwire/core';
import type { ActionContext } from './context.ts';
import { InvalidArgumentError, RefusedError } from './errors.ts';

/** One page of a list that is paged forward only. */
export interface Page<Node> {
  edges: { cursor: string; node: Node }[];
  /** The cursor of the last edge, or of the last record that was read for a short page. Null if there is none. */
  endCursor: string | null;
  hasNextPage: boolean;
  /** Whether the page was requested with a cursor. */
  hasPreviousPage: boolean;
}

/** The paging arguments of a list, as sent by a client. A list throws an `InvalidArgumentError` if one is invalid. */
export interface PageRequest {
  /** 1 to 100. Null or undefined defaults to 20. */
  first?: number | null | undefined;
  /** A cursor of the same list. Null or undefined starts at the beginning. */
  after?: string | null | undefined;
}

/** The order of a list. A list does not accept a cursor of another list, or of another order. */
export interface ListOrder<Row, Position> {
  /** Begins the text of a cursor. */
  name: string;
  /** The list, for a client. */
  description: string;
  /** The part of a cursor that says where a record is in the list. */
  write: (row: Row) => string;
  /** Returns null for a text that `write` does not return. */
  read: (text: string) => Position | null;
}

export function orderOfIds<RecordType extends string>(
  list: string,
  description = `\`${list}\``,
): ListOrder<{ id: RecordId<RecordType> }, RecordId<RecordType>> {
  return { name: list, description, write: ({ id }) => id, read: parseRecordId };
}

/**
 * The cursor of a record in a list, for operators, who continue a list after a record. They can also pass its number.
 *
 * @param gid of the type of the records of the list
 * @throws {RefusedError} `INVALID` if it is not the identifier of a record
 */
export function cursorOf({ gidNamespace }: Pick<ActionContext, 'gidNamespace'>, list: string, gid: string): string {
  const [, namespace = gidNamespace, number = ''] = /^(?:gid:\/\/([^/]*)\/\w+\/)?(\d+)$/.exec(gid) ?? [];
  const id = namespace === gidNamespace ? parseRecordId(number) : null;
  if (id === null) throw new RefusedError('INVALID', `${gid} is not the identifier of a record of this list.`);
  return formatCursor(list, id);
}

/** A page to read. */
export interface PageToRead<Position> {
  /** Only records after this position. Null starts at the beginning. */
  after: Position | null;
  /** One more than the page shows, to know whether there is a next page. */
  limit: number;
}

const firstDefault = 20;
const firstMax = 100;

/**
 * Reads a page of a list by keyset: the cursor holds the position of the last record.
 *
 * @param select returns at most `limit` records after `after`, in the order of the list
 * @throws {InvalidArgumentError} if `first` is out of range, or `after` is not a cursor of this list
 */
export async function keysetPage<Row, Position, Node>(
  order: ListOrder<Row, Position>,
  request: PageRequest,
  select: (page: PageToRead<Position>) => Promise<readonly Row[]>,
  toNode: (row: Row) => Node,
): Promise<Page<Node>> {
  return toPage(order, request, await select(readPageRequest(order, request)), toNode);
}

/** @throws {InvalidArgumentError} as `keysetPage` does */
export function readPageRequest<Row, Position>(
  order: ListOrder<Row, Position>,
  request: PageRequest,
): PageToRead<Position> {
  const first = request.first ?? firstDefault;
  if (!Number.isInteger(first) || first < 1 || first > firstMax) {
    throw new InvalidArgumentError(`\`first\` must be 1 to ${firstMax}; it is ${first}.`);
  }
  const after = request.after ?? null;
  return { after: after === null ? null : parseCursor(order, after), limit: first + 1 };
}

/**
 * The page of a request, from what `readPageRequest` wants to be read.
 *
 * @param readTo the last record that was read, if reading ended before the page was full, so that the next page continues there
 */
export function toPage<Row, Node, Place = Row>(
  order: CursorOrder<Row | Place>,
  request: PageRequest,
  rows: readonly Row[],
  toNode: (row: Row) => Node,
  readTo: Place | null = null,
): Page<Node> {
  const first = request.first ?? firstDefault;
  const edges = rows.slice(0, first).map((row) => new Edge(order, row, toNode(row)));
  return {
    edges,
    endCursor: readTo === null ? (edges.at(-1)?.cursor ?? null) : cursorAt(order, readTo),
    hasNextPage: readTo !== null || rows.length > first,
    hasPreviousPage: (request.after ?? null) !== null,
  };
}

/** Most clients ask for nodes only, so the cursor is written when it is read. */
class Edge<Row, Node> {
  readonly node: Node;
  readonly #order: CursorOrder<Row>;
  readonly #row: Row;

  constructor(order: CursorOrder<Row>, row: Row, node: Node) {
    this.node = node;
    this.#order = order;
    this.#row = row;
  }

  get cursor(): string {
    return cursorAt(this.#order, this.#row);
  }
}

type CursorOrder<Row> = Pick<ListOrder<Row, unknown>, 'name' | 'write'>;

function cursorAt<Row>({ name, write }: CursorOrder<Row>, row: Row): string {
  return formatCursor(name, write(row));
}

/** @param position as `ListOrder.write` returns it */
export function formatCursor(name: string, position: string): string {
  return Buffer.from(`${name}:${position}`).toString('base64url');
}

function parseCursor<Position>({ name, description, read }: ListOrder<never, Position>, cursor: string): Position {
  const text = cursor.length > 100 ? '' : Buffer.from(cursor, 'base64url').toString('latin1');
  const position = text.slice(name.length + 1);
  const found = formatCursor(name, position) === cursor ? read(position) : null;
  if (found === null) throw new InvalidArgumentError(`\`after\` is not a cursor of ${description}.`);
  return found;
}
