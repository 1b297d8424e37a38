import type { QueryResultRow } from 'pg';
import type { Planning } from './planning.ts';

/** A statement with the name under which each connection prepares it once. */
export interface Statement {
  name: string;
  text: string;
  /** Only a store applies `in-index-order`: inside a transaction, it has the effect of `for-values`. */
  planning?: Planning;
}

type Values = readonly (string | number)[];

/** The last statement of each template: a function that runs one would write it anew at each of its calls. */
const written = new WeakMap<TemplateStringsArray, { statement: Statement; values: Values }>();

/** The statement whose text is the template. */
export function sql(name: string, planning?: Planning) {
  return (parts: TemplateStringsArray, ...values: Values): Statement => {
    const last = written.get(parts);
    if (last?.statement.name === name && last.values.every((value, index) => value === values[index]))
      return last.statement;
    // The parts without escapes.
    const statement = { name, text: String.raw({ raw: parts }, ...values), ...(planning && { planning }) };
    written.set(parts, { statement, values });
    return statement;
  };
}

/** Runs statements: on any connection of the pool, or inside a transaction. */
export interface Database {
  query<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** An open transaction. */
export interface Transaction extends Database {
  /**
   * Marks the transaction: it leaves work for the webhook worker. After a successful COMMIT the store notifies the worker;
   * after a rollback it does not.
   *
   * @param payload which worker to notify. An empty payload notifies all.
   */
  notifyAfterCommit(payload?: string): void;
}

/** The first of the rows, or null if there is none. */
export function firstRow<Row>(rows: readonly Row[]): Row | null {
  return rows[0] ?? null;
}

/** The only row of a statement that always returns one. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length !== 1) throw new Error(`Expected one row, got ${rows.length}.`);
  return row;
}
