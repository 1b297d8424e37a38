import type { ActionContext } from '@deedwire/actions';
import type { AccountId } from '@deedwire/core';
import type { Database, PageQuery } from '@deedwire/store';
import DataLoader from 'dataloader';
import type { LenderMemberRow } from '../team/team-member-statements.ts';
import {
  type LenderQuery,
  type LenderRow,
  selectLender,
  selectLenderName,
  selectLenders,
} from './lender-statements.ts';

/** The dependencies of use cases that read the calling lender. */
export interface LenderContext extends ActionContext {
  /** One for the process. */
  lenders: LenderReader;
}

/** Reads lenders and their team members. Batches the concurrent reads of all fields and operations into one statement. */
export interface LenderReader {
  /** @throws {Error} if the lender does not exist, which cannot happen for an account with credentials */
  readName(accountId: AccountId): Promise<string>;
  /** As `readName`. Oldest first. */
  readMembers(accountId: AccountId, page: PageQuery<'TeamMember'>): Promise<readonly LenderMemberRow[]>;
}

/** A large batch would delay its first lender. */
const maxReads = 32;

const nameOnly: PageQuery<'TeamMember'> = { afterId: null, limit: 0 };

export function createLenderReader(database: Database): LenderReader {
  /** Statements that were sent and have no result. */
  let running = 0;
  const lenders = new DataLoader<LenderQuery, LenderRow, string>(
    async (queries) => {
      // The reader lives as long as the process: only reads of one batch share a result.
      lenders.clearAll();
      running += 1;
      return readLenders(database, queries).finally(() => (running -= 1));
    },
    {
      cacheKeyFn: ({ accountId, afterId, limit }) => `${accountId} ${afterId ?? ''} ${limit}`,
      maxBatchSize: maxReads,
      // Alone, an operation waits for its own fields only. Otherwise for the requests that arrive in the same turn: there are
      // other clients, and a statement that serves several of them costs less.
      batchScheduleFn: (flush) => void (running === 0 ? Promise.resolve().then(flush) : setImmediate(flush)),
    },
  );
  return {
    readName: async (accountId) => (await lenders.load({ accountId, ...nameOnly })).name,
    readMembers: async (accountId, page) => (await lenders.load({ accountId, ...page })).members,
  };
}

async function readLenders(database: Database, queries: readonly LenderQuery[]): Promise<(LenderRow | Error)[]> {
  // A page has the name too.
  const paged = new Set(queries.filter(({ limit }) => limit > 0).map(({ accountId }) => accountId));
  const wanted = queries.filter(({ accountId, limit }) => limit > 0 || !paged.has(accountId));
  const rows = await selectEach(database, wanted);
  const ofQuery = new Map(wanted.map((query, index) => [query, rows[index]]));
  const ofAccount = new Map(wanted.map(({ accountId }, index) => [accountId, rows[index]]));
  return queries.map(
    (query) =>
      ofQuery.get(query) ??
      ofAccount.get(query.accountId) ??
      new Error(`Account ${query.accountId} has credentials but does not exist.`),
  );
}

/** One query takes less time than the statement for several. */
async function selectEach(database: Database, queries: readonly LenderQuery[]): Promise<(LenderRow | null)[]> {
  const [only] = queries;
  if (only === undefined || queries.length > 1) return selectLenders(database, queries);
  if (only.limit > 0) return [await selectLender(database, only)];
  const name = await selectLenderName(database, only.accountId);
  return [name === null ? null : { name, members: [] }];
}
