import type { Connection, QueryResultRow, Submittable } from 'pg';
import { ownTypes } from '../connections/connect.ts';
import { executeMessage, type PlainValue } from './execute-message.ts';

/** pg converts all other values. */
export function arePlain(values: readonly unknown[]): values is readonly PlainValue[] {
  return values.every((value) => value === null || (typeof value !== 'object' && value !== undefined));
}

/** A prepared statement and its columns. */
interface Columns {
  text: string;
  readers: readonly { name: string; parse: (text: string) => unknown }[];
  /** A row with all its keys, in order. */
  empty: QueryResultRow;
}

declare module 'pg' {
  // What its types leave out. Its own query uses it.
  interface Connection {
    sendCopyFail(message: string): void;
  }
}

interface ColumnsMessage {
  fields: readonly { name: string; dataTypeID: Parameters<typeof ownTypes.getTypeParser>[0] }[];
}

/** By connection and statement. PostgreSQL refuses to run a prepared statement whose columns have changed. */
const knownColumns = new WeakMap<Connection, Map<string, Columns>>();

function columnsOf(connection: Connection): Map<string, Columns> {
  const known = knownColumns.get(connection);
  if (known) return known;
  const created = new Map<string, Columns>();
  knownColumns.set(connection, created);
  return created;
}

/**
 * A query of a prepared statement, and its result. It asks for the columns the first time only. Otherwise it is a query of pg; not
 * for connections in pipeline mode.
 */
export class PreparedQuery<Row extends QueryResultRow> implements Submittable {
  readonly name: string;
  readonly text: string;
  readonly rows: Row[] = [];
  /** pg calls it as well. */
  callback: (error: Error | undefined, result: this) => void;
  readonly #values: readonly PlainValue[];
  #columns: Columns | undefined;
  #known: Map<string, Columns> | undefined;
  #completed = '';
  #failure: Error | undefined;

  constructor(
    statement: { name: string; text: string; values: readonly PlainValue[] },
    callback: (error: Error | undefined, result: PreparedQuery<Row>) => void,
  ) {
    this.name = statement.name;
    this.text = statement.text;
    this.#values = statement.values;
    this.callback = callback;
  }

  /** The command that has run, for example `SELECT`. */
  get command(): string {
    return this.#completed.split(' ', 1)[0] ?? '';
  }

  /** How many rows were returned or changed. Null for a command that does neither. */
  get rowCount(): number | null {
    const count = this.#completed.slice(this.#completed.lastIndexOf(' ') + 1);
    return /^\d+$/.test(count) ? Number(count) : null;
  }

  submit(connection: Connection): Error | null {
    const { name, text } = this;
    this.#known = columnsOf(connection);
    this.#columns = this.#known.get(name);
    if (this.#columns && this.#columns.text !== text) return new Error(`The statement ${name} has several texts.`);
    if (!connection.stream.writable) return null; // pg rejects the query once it knows why
    const execution = executeMessage(name, this.#values);
    if (this.#columns) {
      connection.stream.write(execution);
      return null;
    }
    connection.stream.cork();
    // One that failed can have prepared it. To close a statement that does not exist is no error.
    connection.close({ type: 'S', name }, false);
    connection.parse({ name, text, types: [] }, false);
    connection.describe({ type: 'S', name }, false);
    connection.stream.write(execution);
    connection.stream.uncork();
    return null;
  }

  handleRowDescription({ fields }: ColumnsMessage): void {
    this.#columns = {
      text: this.text,
      readers: fields.map(({ name, dataTypeID }) => ({ name, parse: ownTypes.getTypeParser(dataTypeID, 'text') })),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    };
    this.#known?.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#failure) return;
    try {
      this.rows.push(this.#read(fields));
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  #read(values: readonly (string | null)[]): Row {
    const { readers = [], empty } = this.#columns ?? {};
    const row: QueryResultRow = { ...empty };
    for (let index = 0; index < readers.length; index += 1) {
      const reader = readers[index];
      const value = values[index];
      if (reader && typeof value === 'string') row[reader.name] = reader.parse(value);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller knows the columns of its statement
    return row as Row;
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#completed = text;
    if (this.#columns === undefined) this.#known?.set(this.name, { text: this.text, readers: [], empty: {} });
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this);
  }

  handleError(error: Error): void {
    this.callback(error, this);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('No statement copies.');
  }
}
