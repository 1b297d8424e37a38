import type { AccountId } from '@deedwire/domain';
import type { Database, PageQuery } from '@deedwire/store';
import {
  type LenderMemberRow,
  type LenderQuery,
  selectLender,
  selectLenderName,
  selectLenders,
} from '@deedwire/store/lenders';

/** Reads lenders and their team members. Batches the concurrent reads of all fields and operations into one statement. */
export interface LenderReader {
  /** @throws {Error} if the lender does not exist, which cannot happen for an account with credentials */
  readName(accountId: AccountId): Promise<string>;
  /** As `readName`. Oldest first. */
  readMembers(accountId: AccountId, page: PageQuery<'TeamMember'>): Promise<readonly LenderMemberRow[]>;
}

/** The part of the next statement that one lender needs. */
interface Waiting {
  accountId: AccountId;
  /** By `keyOf`. */
  pages: Map<string, PageQuery<'TeamMember'>>;
  found: Promise<Found>;
  resolve: (found: Found) => void;
  reject: (error: unknown) => void;
}

interface Found {
  name: string;
  /** By `keyOf`. */
  pages: Map<string, readonly LenderMemberRow[]>;
}

/** A large batch would delay its first lender. */
const maxLenders = 32;
const noMembers: PageQuery<'TeamMember'> = { afterId: null, limit: 0 };

export function createLenderReader(database: Database): LenderReader {
  let waiting = new Map<AccountId, Waiting>();
  /** Statements that were sent and have no result. */
  let running = 0;

  function flush(): void {
    const batch = [...waiting.values()];
    // A new map each time: V8 keeps the contents of a map that changes all the time alive for long.
    waiting = new Map();
    if (batch.length === 0) return;
    running += 1;
    void readBatch(database, batch).then(() => (running -= 1)); // never rejects
  }

  function add(accountId: AccountId): Waiting {
    const known = waiting.get(accountId);
    if (known) return known;
    if (waiting.size >= maxLenders) flush();
    const { promise: found, resolve, reject } = Promise.withResolvers<Found>();
    const added: Waiting = { accountId, pages: new Map(), found, resolve, reject };
    waiting.set(accountId, added);
    if (waiting.size === 1) {
      // Alone, an operation waits for its own fields only. Otherwise for the requests that arrive in the same turn: there are
      // other clients, and a statement that serves several of them costs less.
      if (running === 0) void Promise.resolve().then(flush);
      else setImmediate(flush);
    }
    return added;
  }

  return {
    async readName(accountId) {
      const { name } = await add(accountId).found;
      return name;
    },
    async readMembers(accountId, page) {
      const lender = add(accountId);
      const key = keyOf(page);
      lender.pages.set(key, page);
      const { pages } = await lender.found;
      return pages.get(key) ?? [];
    },
  };
}

function keyOf({ afterId, limit }: PageQuery<'TeamMember'>): string {
  return `${afterId ?? ''} ${limit}`;
}

/** Settles the promises of the batch. */
async function readBatch(database: Database, batch: readonly Waiting[]): Promise<void> {
  try {
    const [only] = batch;
    if (only && batch.length === 1 && only.pages.size <= 1) {
      only.resolve(await readAlone(database, only));
      return;
    }
    const found = await readAll(database, batch);
    for (const lender of batch) {
      const result = found.get(lender);
      if (result) lender.resolve(result);
      else lender.reject(noAccount(lender));
    }
  } catch (error) {
    for (const lender of batch) lender.reject(error);
  }
}

function noAccount({ accountId }: Waiting): Error {
  return new Error(`Account ${accountId} has credentials but does not exist.`);
}

const noPages: Found['pages'] = new Map();

/** For at most one page. Takes less time than the statement for several lenders. */
async function readAlone(database: Database, lender: Waiting): Promise<Found> {
  const { accountId, pages } = lender;
  if (pages.size === 0) {
    const name = await selectLenderName(database, accountId);
    if (name === null) throw noAccount(lender);
    return { name, pages: noPages };
  }
  const [[key, { afterId, limit }] = ['', noMembers]] = pages;
  const found = await selectLender(database, { accountId, afterId, limit });
  if (found === null) throw noAccount(lender);
  return { name: found.name, pages: new Map([[key, found.members]]) };
}

async function readAll(database: Database, batch: readonly Waiting[]): Promise<Map<Waiting, Found>> {
  const queries: (LenderQuery & { key: string; lender: Waiting })[] = batch.flatMap((lender) => {
    const pages = lender.pages.size > 0 ? [...lender.pages] : [['', noMembers] as const];
    return pages.map(([key, page]) => ({ accountId: lender.accountId, ...page, key, lender }));
  });
  const rows = await selectLenders(
    database,
    queries.map(({ accountId, afterId, limit }) => ({ accountId, afterId, limit })),
  );
  const results = new Map<Waiting, Found>();
  for (const [index, { key, lender }] of queries.entries()) {
    const row = rows[index];
    if (!row) continue;
    const found = results.get(lender) ?? { name: row.name, pages: new Map() };
    found.pages.set(key, row.members);
    results.set(lender, found);
  }
  return results;
}
