import { cursorOf, cursorOfClient, type OperatorContext, type Page, type PageRequest } from '@deedwire/actions';
import { InvalidArgumentError, Option } from 'commander';
import { withContext } from './session.ts';
import type { Shell } from './shell.ts';

const pageSize = 100;
const defaultLimit = 50;
// All rows are in memory before the first one is printed.
const limitMax = 10_000;

export function limitOption(): Option {
  return new Option('--limit <count>', 'the maximum number of rows, 1 to 10000')
    .default(defaultLimit)
    .argParser((value) => {
      const limit = Number(value);
      if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
        throw new InvalidArgumentError(`It must be a whole number from 1 to ${limitMax}.`);
      return limit;
    });
}

export const afterDescription = 'continue a list after its last row';

/** Which rows of a list to read. */
export interface Window {
  limit: number;
  /** Begin after the record with this identifier, or the client with this client id. Omit it to begin with the first one. */
  after?: string;
}

export type ListName = Parameters<typeof cursorOf>[1] | 'clients';

/** A part of a list. */
export interface Listed<Node> {
  nodes: Node[];
  hasMore: boolean;
}

/** Reads pages until there are `limit` nodes or no more pages. A page can be empty although another one follows. */
async function readUpTo<Node>(
  limit: number,
  readPage: (request: PageRequest) => Promise<Page<Node>>,
  first: string | null,
): Promise<Listed<Node>> {
  const nodes: Node[] = [];
  let after = first;
  for (;;) {
    const page: Page<Node> = await readPage({ first: Math.min(pageSize, limit - nodes.length), after });
    nodes.push(...page.edges.map(({ node }) => node));
    after = page.endCursor;
    if (!page.hasNextPage || nodes.length >= limit) return { nodes, hasMore: page.hasNextPage };
  }
}

/** Reads a part of a list with a connection of its own. */
export function readList<Node>(
  shell: Shell,
  list: ListName,
  { limit, after }: Window,
  readPage: (context: OperatorContext, request: PageRequest) => Promise<Page<Node>>,
): Promise<Listed<Node>> {
  return withContext(shell, async (context) => {
    const first = after === undefined ? null : await findCursor(context, list, after);
    return readUpTo(limit, (request) => readPage(context, request), first);
  });
}

function findCursor(context: OperatorContext, list: ListName, after: string): string | Promise<string> {
  return list === 'clients' ? cursorOfClient(context, after) : cursorOf(context, list, after);
}
