/** Where the functions for applications are. */
export interface Place {
  /** Defaults to `deedwire`. */
  readonly schema?: string;
}

/** What runs statements: a transaction or a connection of the application, as one of the `from…` functions takes it from its driver. */
export interface Session {
  readonly schema: string;
  /** Runs one statement with the values of `$1`, `$2` and so on, each of which it names once, in this order. */
  query(text: string, values: readonly (string | null)[]): Promise<readonly unknown[]>;
  /** @throws {NotInTransactionError} if what it runs would be committed at once */
  requireTransaction(): Promise<void>;
}

/** What an adapter knows of its driver. */
interface Driver extends Pick<Session, 'query'> {
  /** The driver's own sign. Undefined: it has none. */
  readonly isInTransaction?: boolean | undefined;
  /** The right line, for the error. */
  readonly example: string;
}

export function createSession({ schema = 'deedwire' }: Place, readDriver: () => Driver): Session {
  return {
    schema,
    query: (text, values) => readDriver().query(text, values),
    async requireTransaction() {
      const { isInTransaction, example, query } = readDriver();
      if (isInTransaction === false) throw new NotInTransactionError(example);
      if (isInTransaction === undefined) await tryTransaction(query, example);
    },
  };
}

/** SQLSTATE no_active_sql_transaction */
const noTransaction = '25P01';

/** The database itself says whether a transaction is open: it refuses a savepoint outside of one. */
async function tryTransaction(query: Session['query'], example: string): Promise<void> {
  try {
    await query('savepoint deedwire_append', []);
  } catch (error) {
    if (findState(error) === noTransaction) throw new NotInTransactionError(example, error);
    throw error;
  }
  await query('release savepoint deedwire_append', []);
}

/** Some drivers wrap the error of the database. */
function findState(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code)
    ? error.code
    : findState(error.cause);
}

/** The event would be committed at once, even if the change that it reports is rolled back. */
export class NotInTransactionError extends Error {
  readonly code = 'NOT_IN_TRANSACTION';
  override readonly name = 'NotInTransactionError';

  constructor(example: string, cause?: unknown) {
    super(
      `There is no transaction, so this would be committed without your own change. Pass the transaction: ${example}`,
      {
        cause,
      },
    );
  }
}

/** A call of a function for applications, with a text for each parameter. */
export function callOf({ schema }: Pick<Session, 'schema'>, name: string, types: readonly string[]): string {
  const values = types.map((type, index) => `$${index + 1}::text${type === 'text' ? '' : `::${type}`}`);
  // As text: a driver could read a long number as one that is not exact, and write a text for `json` as a JSON string.
  return `select "${schema.replaceAll('"', '""')}".${name}(${values.join(', ')})::text as result`;
}

interface Parameter {
  /** Defaults to `text`. */
  readonly type?: string;
  readonly value: string | null;
}

/**
 * Calls a function for applications, and returns its result.
 *
 * @param parameters in their order. The names are those of the application, for errors
 * @throws {TypeError} for what is no text, or a text that PostgreSQL does not store. A driver would change it, so that two ids could become one.
 */
export async function call(
  session: Session,
  name: string,
  parameters: Readonly<Record<string, Parameter>>,
): Promise<string> {
  for (const [parameter, { value }] of Object.entries(parameters)) requireText(parameter, value);
  const all = Object.values(parameters);
  const text = callOf(
    session,
    name,
    all.map(({ type = 'text' }) => type),
  );
  const [row] = await session.query(
    text,
    all.map(({ value }) => value),
  );
  if (typeof row !== 'object' || row === null || !('result' in row))
    throw new TypeError(`The driver returned no row of ${name}().`);
  return String(row.result);
}

/** A program in JavaScript can pass anything: a number is the id of many tables. */
function requireText(parameter: string, value: unknown): void {
  if (value === null) return;
  if (typeof value !== 'string') {
    const use = typeof value === 'number' || typeof value === 'bigint' ? ` Pass String(${parameter}).` : '';
    throw new TypeError(`${parameter} must be a string, not ${typeof value}.${use}`);
  }
  if (!value.isWellFormed() || value.includes('\0'))
    throw new TypeError(`${parameter} has the character U+0000 or half of a surrogate pair.`);
}

/** @throws {TypeError} if a program in JavaScript passes its driver itself */
export function requireSession(session: Session): void {
  if (typeof Object(session).requireTransaction !== 'function')
    throw new TypeError('Pass the transaction as one of the functions of its driver makes it, such as fromPg(client).');
}
