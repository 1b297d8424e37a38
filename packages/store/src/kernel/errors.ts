import { operatorCommand } from '@deedwire/core';
import { DatabaseError } from 'pg';
import { describeWait, type MigrationWait } from './migration-wait.ts';

/** The message of an error. Node gives none to the `AggregateError` of a connection to a name whose addresses all failed. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error.message;
}

/** The database is unavailable: it cannot be reached, or cannot serve at the moment. Retry later. */
export class StoreUnavailableError extends Error {
  readonly code = 'STORE_UNAVAILABLE';
  override readonly name = 'StoreUnavailableError';

  constructor(cause: unknown) {
    super(isOfReadOnly(cause) ? 'The database is read-only.' : 'The database is not available.', { cause });
  }

  /**
   * The cause, for an operator: a SQLSTATE, a code of the operating system or a message of pg. Contains no login, and no hosts
   * but those of a certificate that is not that of the server.
   */
  get reason(): string {
    const { cause } = this;
    if (!(cause instanceof Error)) return 'unknown';
    if (!('code' in cause && typeof cause.code === 'string')) return messageOf(cause);
    return cause.code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? `${cause.code} (${describeNames(cause)})` : cause.code;
  }
}

/** Node's own message lists no names if an address was expected. */
function describeNames(cause: Error): string {
  const host = 'host' in cause ? String(cause.host) : 'another host';
  const { cert } = 'cert' in cause ? cause : { cert: null };
  const hasNames = typeof cert === 'object' && cert !== null && 'subjectaltname' in cert;
  return `the URL names ${host}, the certificate ${hasNames ? String(cert.subjectaltname) : 'no host'}`;
}

/** The connection was lost, or the server did not respond, after COMMIT was sent. */
export class UnconfirmedCommitError extends StoreUnavailableError {
  constructor(cause: unknown) {
    super(cause instanceof StoreUnavailableError ? cause.cause : cause);
    this.message = 'The database has not confirmed the change, which may have been made. Look before you repeat it.';
  }
}

/** SQLSTATE read_only_sql_transaction. */
const readOnlyState = '25006';

function isOfReadOnly(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === readOnlyState;
}

/** The server asked for the password in clear text, and the connection has no verified TLS. The password was not sent. */
export class ClearTextPasswordError extends Error {
  override readonly name = 'ClearTextPasswordError';

  constructor() {
    super(
      'The server asked for the password in clear text over a connection without verified TLS, so it was not sent. Let the ' +
        'server use scram-sha-256, or add sslmode=verify-full to the URL.',
    );
  }
}

/** The server asked for a password, and neither the URL nor the environment has one. */
export class MissingPasswordError extends Error {
  override readonly name = 'MissingPasswordError';

  constructor() {
    super('The server asked for a password, but the database URL has none. Add it to the URL, or export PGPASSWORD.');
  }
}

/** An applied migration differs from this build's, or is unknown to this build and not a later one. */
export class MigrationChangedError extends Error {
  readonly code = 'MIGRATION_CHANGED';
  override readonly name = 'MigrationChangedError';

  constructor(migration: string, of: 'application' | 'platform' = 'platform') {
    super(
      of === 'platform'
        ? `Migration ${migration} was applied to the database, but is missing from this build or differs from it. An earlier ` +
            'build, before the first public release, made the database; it cannot be upgraded. Use an empty database.'
        : `Migration ${migration} of the application was applied to the database, but its folder lacks it or has another form ` +
            'of it. Restore the file, and write the change as a migration with a later name. If no other database has the migration, ' +
            'and you do not need the data of this one, you can use an empty database instead.',
    );
  }
}

/** The database lacks a migration before one that was applied. Lacks all of a build if it began with a later one. */
export class MigrationMissingError extends Error {
  readonly code = 'MIGRATION_MISSING';
  override readonly name = 'MigrationMissingError';

  constructor(missing: readonly string[] | 'all', applied: string, of: 'application' | 'platform' = 'platform') {
    if (missing === 'all') {
      super(
        of === 'platform'
          ? `The database began with ${applied}, which this build does not know. Use the build that made the database, or a later one.`
          : `The database began with ${applied} of the application, which its folder lacks. Use the release of the application that made ` +
              'the database, or a later one.',
      );
      return;
    }
    super(
      of === 'platform'
        ? `The database lacks ${missing.join(', ')} although ${applied}, a later migration, was applied. ` +
            'Restore the database from a backup, or use an empty one.'
        : `The database lacks ${missing.join(', ')} of the application although ${applied}, a later migration, was applied. ` +
            'Give what is new a later name.',
    );
  }
}

/** A migration of the application failed. */
export class ApplicationMigrationError extends Error {
  readonly code = 'APPLICATION_MIGRATION_FAILED';
  override readonly name = 'ApplicationMigrationError';

  constructor(migration: string, reason: string, cause?: unknown) {
    super(`Migration ${migration} of the application failed: ${reason}`, { cause });
  }
}

/** The database knows another service by the names of this one. */
export class ServiceConflictError extends Error {
  readonly code = 'SERVICE_CONFLICT';
  override readonly name = 'ServiceConflictError';

  constructor(conflicts: readonly string[], remedy = 'Use another name.') {
    super(`The service differs from what a release of it has registered: ${conflicts.join('; ')}. ${remedy}`);
  }
}

/** The login of an app owns objects in the database, or may create some. */
export class ObjectsOfAppsError extends Error {
  readonly code = 'OBJECTS_OF_APPS';
  override readonly name = 'ObjectsOfAppsError';

  constructor(found: readonly string[]) {
    super(
      `No app may create or own objects, which could run with the rights of the owner of the database: ${found.join(', ')}. ` +
        'No release of an app does that. Find out who did, drop the objects or revoke the right, and run the command again.',
    );
  }
}

/** The encoding, settings, the schema or the login keep migrations from being applied. Nothing was changed. */
export class UnsuitableDatabaseError extends Error {
  readonly code = 'DATABASE_UNSUITABLE';
  override readonly name = 'UnsuitableDatabaseError';

  /** @param problems one sentence each, without the period */
  constructor(problems: readonly string[]) {
    super(`Nothing was migrated: ${problems.join('. ')}.`);
  }
}

/** A migration waited too long for locks of other sessions. */
export class MigrationBlockedError extends Error {
  readonly code = 'MIGRATION_BLOCKED';
  override readonly name = 'MigrationBlockedError';

  constructor(wait: MigrationWait, cause: unknown) {
    super(
      `${describeWait(wait)}. Nothing of the migration was applied. Wait until these sessions have ended, or end them, ` +
        'and run the command again.',
      { cause },
    );
  }
}

/** The database has another cell than the requested one. */
export class CellMismatchError extends Error {
  readonly code = 'CELL_MISMATCH';
  override readonly name = 'CellMismatchError';

  constructor(own: number, requested: number) {
    super(
      `The database has cell ${own}, not ${requested}. The ids of its records contain the cell, so it cannot change. ` +
        `Omit the cell, or use an empty database for cell ${requested}.`,
    );
  }
}

/** The names of the roles of a database begin with another prefix than the requested one. */
export class RolePrefixMismatchError extends Error {
  readonly code = 'ROLE_PREFIX_MISMATCH';
  override readonly name = 'RolePrefixMismatchError';

  constructor(own: string, requested: string) {
    super(
      `The names of the roles of the database begin with "${own}", not with "${requested}", and cannot change. Omit the prefix, or use an empty database.`,
    );
  }
}

/** The global identifiers of a database have another namespace than those of a process. */
export class GidNamespaceMismatchError extends Error {
  readonly code = 'GID_NAMESPACE_MISMATCH';
  override readonly name = 'GidNamespaceMismatchError';

  constructor(own: string, requested: string) {
    super(describeOtherNamespace(own, requested).replace(/^t/, 'T'));
  }
}

/** One sentence, without the period. */
export const describeOtherNamespace = (own: string, requested: string): string =>
  `the global identifiers of the database begin with gid://${own}/ and cannot change, and this process has the namespace ${requested}; set GID_NAMESPACE=${own}`;

/** A statement waited too long for a lock. It can succeed later. */
export class LockTimeoutError extends StoreUnavailableError {}

/**
 * The account is frozen, because it leaves for another cell, or is at home in another one. A change of it wrote nothing. It can succeed
 * later, here or there.
 */
export class AccountAwayError extends Error {
  readonly code = 'ACCOUNT_AWAY';
  override readonly name = 'AccountAwayError';

  constructor(options?: ErrorOptions) {
    super('The account is frozen, or at home in another cell. Nothing was changed. Try again later.', options);
  }
}

/** SQLSTATE of the function check_homes(). */
export const awayState = 'ZH001';

/** The server ended a statement that took too long. With less to do, it can succeed. */
export class StatementTimeoutError extends StoreUnavailableError {}

// SQLSTATE lock_not_available: lock_timeout has passed.
const lockNotAvailable = '55P03';

// SQLSTATE query_canceled: statement_timeout has passed, or an administrator has cancelled the statement.
const queryCanceled = '57014';

// SQLSTATE classes (PostgreSQL manual, appendix A): 08 connection exception, 28 invalid authorization (while a password is
// being changed), 3D invalid database (while it is being restored), 53 insufficient resources (connections, disk, memory),
// 55P03 a lock that was not released in time, 57014 a statement that the server cancelled, 57P0x shutdown, 58 system error.
// 25006 is a write on a standby after a failover, 25P03 and 25P04 are transactions that the server ended, 40001 and 40P01 are
// conflicts that a retry resolves.
const unavailableStates = /^(?:08|28|3D|53|55P03|57014|57P0|58|25006|25P03|25P04|40001|40P01)/;

// An insert finds no partition for the row: the clock of the server is far ahead or behind, or no worker has created
// partitions for weeks. SQLSTATE 23514 alone is a check constraint.
function isMissingPartition(error: DatabaseError): boolean {
  return error.code === '23514' && error.routine === 'ExecFindPartition';
}

// SQLSTATE invalid_sql_statement_name and duplicate_prepared_statement.
const lostStatementStates = ['26000', '42P05'];

/** Whether a connection does not have the prepared statements that it should have: a transaction pooler is between. */
export function isLostStatement(error: unknown): boolean {
  return error instanceof DatabaseError && lostStatementStates.includes(error.code ?? '');
}

/** Whether a relation is where the error occurred. The server names it in the language of its messages, and in quotes of this language. */
export function concernsRelation({ where = '' }: Pick<DatabaseError, 'where'>, name: string): boolean {
  return new RegExp(String.raw`(?<!\w)${name}(?!\w)`).test(where);
}

// SQLSTATE class 57P, idle_in_transaction_session_timeout and transaction_timeout. The severity is in the language of the server.
const endingStates = /^(?:57P|25P0[34])/;

/** Whether the server has ended the session with this error. */
export function endsSession({ code = '' }: Pick<DatabaseError, 'code'>): boolean {
  return endingStates.test(code);
}

// SQLSTATE disk_full, out_of_memory and io_error.
const exhaustedStates = ['53100', '53200', '58030'];

/** Whether the server has no space, no memory, or cannot read or write a file. It lasts until the server is repaired. */
export function isExhausted({ code = '' }: Pick<DatabaseError, 'code'>): boolean {
  return exhaustedStates.includes(code);
}

const connectionErrors = new WeakSet<Error>();

/**
 * Notes what broke a connection, or kept it from opening. The database is then unavailable, whatever the system, OpenSSL, pg or the server
 * call it.
 */
export function noteConnectionError(error: unknown): void {
  if (error instanceof Error) connectionErrors.add(error);
}

// The messages of pg, without a code, when the pool has no connection in time, or a connection is closed.
const pgMessages =
  /^(?:Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after calling end)/;

/** Whether an error means that the database is unavailable, and not that the statement is wrong. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (connectionErrors.has(error)) return true;
  if (!(error instanceof DatabaseError)) return pgMessages.test(error.message);
  // Without a code, it is what pg says of a message that it cannot read.
  return error.code === undefined || unavailableStates.test(error.code) || isMissingPartition(error);
}

/**
 * PostgreSQL refused to update or delete rows, because a publication cannot name them. Every such write of the table fails until an operator
 * changes the publication.
 */
export class PublicationError extends Error {
  readonly code = 'PUBLICATION_REFUSES';
  override readonly name = 'PublicationError';

  constructor(cause: DatabaseError) {
    super(
      `A publication keeps PostgreSQL from changing rows. Run \`${operatorCommand()} database check\`, which names it and the remedy.`,
      { cause },
    );
  }
}

// Its SQLSTATEs, 55000 and 42P10, have other meanings, too. The message is in the language of the server.
const identityRoutine = 'CheckCmdReplicaIdentity';

/** `StoreUnavailableError`, `AccountAwayError` or `PublicationError` if that is what the error means, otherwise the error itself. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof DatabaseError && error.code === lockNotAvailable) return new LockTimeoutError(error);
  if (error instanceof DatabaseError && error.code === queryCanceled) return new StatementTimeoutError(error);
  if (error instanceof DatabaseError && error.code === awayState) return new AccountAwayError({ cause: error });
  if (error instanceof DatabaseError && error.routine === identityRoutine) return new PublicationError(error);
  return isUnavailable(error) ? new StoreUnavailableError(error) : error;
}
