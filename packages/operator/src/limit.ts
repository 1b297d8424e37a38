import { cursorOf, cursorOfClient, type OperatorContext, type Page, type PageRequest } from '@deedwire/actions';
import { InvalidArgumentError, Option } from 'commander';

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

/**
 * Reads pages of a list until there are `limit` rows or no more pages. A page can be empty although another one follows.
 *
 * @returns whether there are more rows
 */
export async function readList<Row>(
  context: OperatorContext,
  list: string,
  { limit, after }: Window,
  readPage: (context: OperatorContext, request: PageRequest) => Promise<Page<Row>>,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  if (after !== undefined)
    cursor = list === 'clients' ? await cursorOfClient(context, after) : cursorOf(context, list, after);
  for (;;) {
    const page = await readPage(context, { first: Math.min(pageSize, limit - rows.length), after: cursor });
    rows.push(...page.edges.map(({ node }) => node));
    cursor = page.endCursor;
    if (!page.hasNextPage || rows.length >= limit) return { rows, hasMore: page.hasNextPage };
  }
}
