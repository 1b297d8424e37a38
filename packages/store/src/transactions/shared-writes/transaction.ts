import type { AccountId } from '@deedwire/core';
import { type Client, DatabaseError, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { endsSession } from '../../kernel/errors.ts';
import { notifyStatement } from '../../notifications/wake-channel.ts';
import { type Database, onlyRow, type Statement, sql } from '../../statements/database.ts';
import { queryInTime } from '../../statements/query-in-time.ts';
import { type SlowStatementOptions, timeStatement } from '../../statements/slow-statements.ts';
import { claimIdempotencyKeys, completeIdempotencyKeys } from '../idempotency.ts';
import type { Drawn, InsertedRow, SharedWrite, WriteResult } from './row-set.ts';

/** A claim is committed together with the result of its request, so it needs no separate time limit. */
const claimSeconds = 0;

export interface FlightOptions {
  /** How long each statement waits for its response. */
  timeoutMs: number;
  /** Begins each transaction. */
  begin: string;
  slowStatement: SlowStatementOptions | undefined;
  /** Not behind a transaction pooler: a connection of the server has the statements that other clients prepared. */
  prepares: boolean;
  /** Sends the notifications after a commit. */
  notify: (payload: string) => void;
  /** Whether to send them with the commit instead. Asked once for each transaction that has some. */
  notifiesWithCommit: () => boolean;
}

/** The server has rolled the transaction back, so nothing was written. The connection can be used again. */
export class RolledBackError extends Error {
  declare readonly cause: DatabaseError;
  /** The transaction failed before a row was inserted. */
  readonly isOfClaim: boolean;

  constructor(cause: DatabaseError, isOfClaim: boolean) {
    super('The transaction was rolled back.', { cause });
    this.isOfClaim = isOfClaim;
  }
}

/** The connection can no longer be used. */
export class LostConnectionError extends Error {
  /** `commit` was sent. */
  readonly mayBeCommitted: boolean;

  constructor(cause: unknown, mayBeCommitted: boolean) {
    super('The connection was lost.', { cause });
    this.mayBeCommitted = mayBeCommitted;
  }
}

/**
 * Commits writes in one transaction, in two flights. The statements of a flight are sent at once; each gets its response. The
 * first flight checks the homes of the accounts, draws ids and the time and claims the idempotency keys, the second inserts the rows and commits. No two writes
 * may have the same key. Notifies the workers: with the second flight, after `commit`, if `notifiesWithCommit` says so. They
 * then look for work in vain if the server answered `commit` with a rollback.
 *
 * @param client in pipeline mode, and used by this transaction only
 * @param lockMs how long claims and rows wait for a lock
 * @returns the results, in the order of the writes
 * @throws {RolledBackError}
 * @throws {LostConnectionError}
 */
export async function commitTogether(
  client: Client,
  options: FlightOptions,
  writes: readonly SharedWrite<unknown>[],
  lockMs: number,
): Promise<WriteResult<unknown>[]> {
  const send = <Row extends QueryResultRow>(name: string, query: QueryConfig): Promise<QueryResult<Row>> =>
    timeStatement(options.slowStatement, name, () => queryInTime<Row>(client, query, options.timeoutMs));
  const database: Database = {
    async query<Row extends QueryResultRow>({ name, text }: Statement, values: readonly unknown[]): Promise<Row[]> {
      return (await send<Row>(name, { ...(options.prepares && { name }), text, values: [...values] })).rows;
    },
  };

  const keys = writes.flatMap(({ key }) => key ?? []);
  const { begun, drawing, claiming } = inOnePiece(client, () => ({
    begun: send('begin', { text: `${options.begin}; set local lock_timeout = ${lockMs}` }),
    drawing: draw(database, new Set(writes.map(({ accountId }) => accountId)), sum(writes.map(({ ids }) => ids))),
    claiming: keys.length === 0 ? Promise.resolve(new Set()) : claimIdempotencyKeys(database, keys, claimSeconds),
  }));
  const failure = await failureOf([begun, drawing, claiming], false);
  if (failure !== null) {
    await failureOf([send('rollback', { text: 'rollback' })], false);
    throw new RolledBackError(failure, true);
  }

  const [claimed, drawn] = [await claiming, await drawing];
  let used = 0;
  const sets = writes.map((write) => {
    const ids = drawn.ids.slice(used, (used += write.ids));
    return write.key !== null && !claimed.has(write.key.claimId) ? null : write.rows({ now: drawn.now, ids });
  });
  const inserts = insertsOf(sets.flatMap((set) => set?.rows ?? []));
  const results = writes.flatMap(({ key }, index) => {
    const set = sets[index];
    return key === null || set === null || set === undefined ? [] : { ...key, ...set.saved() };
  });
  const payloads = [...new Set(sets.flatMap((set) => set?.notify ?? []))];
  const isNotifying = payloads.length > 0 && options.notifiesWithCommit();
  const flight = inOnePiece(client, () => {
    const committing = [
      ...inserts.map(({ into, columns }) => database.query(into, columns)),
      ...(results.length === 0 ? [] : [completeIdempotencyKeys(database, results)]),
      send('commit', { text: 'commit' }),
    ];
    if (isNotifying) database.query(notifyStatement, [payloads]).catch(() => notifyAll(payloads, options));
    return committing;
  });
  const refused = await failureOf(flight, true);
  // After a failed statement, PostgreSQL responds to COMMIT with ROLLBACK.
  if (refused !== null) throw new RolledBackError(refused, false);
  if (!isNotifying) notifyAll(payloads, options);
  return sets.map((set) => (set === null ? { kind: 'key-known' } : { kind: 'written', answer: set.answer }));
}

function notifyAll(payloads: readonly string[], { notify }: FlightOptions): void {
  for (const payload of payloads) notify(payload);
}

/** Sends what `send` writes in one piece: PostgreSQL and this process wake up less often. */
function inOnePiece<Result>(client: Client, send: () => Result): Result {
  const { stream } = client.connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/**
 * Waits for all responses of a flight. Returns the first error of the server, or null.
 *
 * @throws {LostConnectionError}
 */
async function failureOf(flight: readonly Promise<unknown>[], mayBeCommitted: boolean): Promise<DatabaseError | null> {
  const outcomes = await Promise.allSettled(flight);
  const errors: unknown[] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const [first = null] = errors.filter((error) => error instanceof DatabaseError);
  const lost = errors.find((error) => !(error instanceof DatabaseError) || endsSession(error));
  if (lost !== undefined) throw new LostConnectionError(lost, mayBeCommitted);
  return first;
}

/** Checks the homes of accounts, and draws what their writes need. */
async function draw(database: Database, accounts: ReadonlySet<AccountId>, ids: number): Promise<Drawn> {
  const statement = sql('draw-for-writes')`
      select now()::timestamptz(3) as now, array(select new_record_id()::text from generate_series(1, $1::int)) as ids
      where check_homes($2)`;
  return onlyRow(await database.query<{ now: Date; ids: string[] }>(statement, [ids, [...accounts]]));
}

/** The rows of each statement, by columns. The statements are in the order in which they first occur. */
function insertsOf(rows: readonly InsertedRow[]): { into: Statement; columns: (string | null)[][] }[] {
  const inserts = new Map<string, { into: Statement; columns: (string | null)[][] }>();
  for (const { into, values } of rows) {
    let insert = inserts.get(into.name);
    if (insert === undefined) {
      insert = { into, columns: values.map(() => []) };
      inserts.set(into.name, insert);
    }
    for (const [index, value] of values.entries()) insert.columns[index]?.push(value);
  }
  return [...inserts.values()];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
