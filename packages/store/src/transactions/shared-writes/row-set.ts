import type { AccountId } from '@deedwire/core';
import type { Database, Statement } from '../../statements/database.ts';
import type { KeyClaim, KeyResult } from '../idempotency.ts';

/** A row for the statement `into`, which inserts rows from arrays: one parameter for each column, in this order. */
export interface InsertedRow {
  readonly into: Statement;
  readonly values: readonly (string | null)[];
}

/** Inserts one row, in a transaction that inserts more than rows. */
export async function insertRow(database: Database, { into, values }: InsertedRow): Promise<void> {
  await database.query(
    into,
    values.map((value) => [value]),
  );
}

/** What the database draws for a write. */
export interface Drawn {
  /** The time of the transaction, as a column `timestamptz(3) default now()` stores it. */
  readonly now: Date;
  /** Record ids, as many as the write asked for. */
  readonly ids: readonly string[];
}

/** Everything that a write inserts, and its answer. */
export interface RowSet<Answer> {
  /** In the order in which they are inserted. Equal statements of several writes are executed once. */
  readonly rows: readonly InsertedRow[];
  readonly answer: Answer;
  /** Returns the result to save with the idempotency key. Not called without one. */
  readonly saved: () => Pick<KeyResult, 'payload' | 'secretCiphertext' | 'recordId'>;
  /** Which workers to notify after the commit. */
  readonly notify: readonly string[];
}

/** A write that shares its transaction with others. */
export interface SharedWrite<Answer> {
  readonly accountId: AccountId;
  /** Accounts take turns, and the clients of an account. */
  readonly clientId: string;
  /** The same object for all writes of an operation. */
  readonly operation: object;
  /** Null: the write is not idempotent. */
  readonly key: KeyClaim | null;
  /** How many record ids to draw. */
  readonly ids: number;
  /** Must change nothing: it is called again when the transaction is repeated. */
  readonly rows: (drawn: Drawn) => RowSet<Answer>;
}

/** `key-known`: nothing was written, because another request has used the idempotency key or is using it. */
export type WriteResult<Answer> =
  | { readonly kind: 'written'; readonly answer: Answer }
  | { readonly kind: 'key-known' };
