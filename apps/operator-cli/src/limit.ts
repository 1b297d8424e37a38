import type { Page, PageRequest } from '@deedwire/actions';
import { InvalidArgumentError, Option } from 'commander';

const pageSize = 100;
const defaultLimit = 50;

export function limitOption(): Option {
  return new Option('--limit <count>', 'the maximum number of rows').default(defaultLimit).argParser((value) => {
    const limit = Number(value);
    if (!Number.isInteger(limit) || limit < 1)
      throw new InvalidArgumentError('It must be a whole number of 1 or more.');
    return limit;
  });
}

/** Reads pages until there are `limit` nodes or no more pages. */
export async function readUpTo<Node>(
  limit: number,
  readPage: (request: PageRequest) => Promise<Page<Node>>,
): Promise<Node[]> {
  const nodes: Node[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Page<Node> = await readPage({ first: Math.min(pageSize, limit - nodes.length), after });
    nodes.push(...page.edges.map(({ node }) => node));
    after = page.endCursor;
    if (!page.hasNextPage || nodes.length >= limit) return nodes;
  }
}
