import { DatabaseError, escapeIdentifier } from 'pg';
import { messageOf, StoreUnavailableError, UnconfirmedCommitError } from '../kernel/errors.ts';
import { connectionOptions } from './connection-options.ts';

/** The login lacks a right. The message says what to do. */
export class DatabaseAccessError extends Error {
  readonly code = 'DATABASE_ACCESS';
  override readonly name = 'DatabaseAccessError';
}

/** Where a connection leads. The names are as SQL takes them. */
interface Place {
  address: string;
  login: string;
  database: string;
  hasTls: boolean;
}

/**
 * Says what to do if the login of the URL cannot connect, in the message of the same error, or lacks a right: then it is a
 * `DatabaseAccessError`. Returns any other error as it is.
 *
 * @param remedy of a right that it lacks, a sentence. It gets the login and the database as SQL takes them
 */
export function toAccessError(
  error: unknown,
  databaseUrl: string,
  remedy: (place: Pick<Place, 'database' | 'login'>) => string,
): unknown {
  const isUnavailable = error instanceof StoreUnavailableError && !(error instanceof UnconfirmedCommitError);
  const cause = isUnavailable ? error.cause : error;
  if (!(cause instanceof Error)) return error;
  const place = placeOf(databaseUrl);
  if (cause instanceof DatabaseError && cause.code === lacksRight) {
    const problem = `The login ${place.login} lacks a right in the database ${place.database}: ${cause.message}.`;
    return new DatabaseAccessError(`${problem} ${remedy(place)}`, { cause });
  }
  const problem = connectionProblem(cause, place);
  if (problem === null) return error;
  if (!isUnavailable) return new DatabaseAccessError(problem, { cause });
  // Its class says that a later try can succeed.
  error.message = problem;
  return error;
}

function placeOf(databaseUrl: string): Place {
  const { host, port, user = '', database = '', ssl } = connectionOptions(databaseUrl);
  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    login: asName(user),
    database: asName(database),
    hasTls: ssl !== false,
  };
}

/** SQLSTATE insufficient_privilege. */
const lacksRight = '42501';

function connectionProblem(error: Error, { address, login, database, hasTls }: Place): string | null {
  switch ('code' in error ? error.code : undefined) {
    // SQLSTATE invalid_password
    case '28P01':
      return `PostgreSQL at ${address} does not accept the login ${login} with this password. Correct the URL of the database.`;
    // SQLSTATE invalid_authorization_specification: pg_hba.conf refuses the connection, or the login may not connect.
    case '28000':
      return `PostgreSQL at ${address} refuses the login ${login} for the database ${database} ${hasTls ? 'with' : 'without'} TLS. ${hasTls ? '' : 'If the server needs TLS, add sslmode=verify-full to the URL of the database. '}Otherwise allow the login in pg_hba.conf.`;
    // SQLSTATE invalid_catalog_name
    case '3D000':
      return `PostgreSQL at ${address} has no database ${database}. Correct the URL of the database, or create it as a superuser: create database ${database} owner ${login}`;
    case 'ECONNREFUSED':
      return `No PostgreSQL server accepts connections at ${address}. Start it, or correct the URL of the database.`;
    case 'ENOTFOUND':
      return `The host of ${address} is unknown. Correct the URL of the database.`;
    default:
      return noTls.test(messageOf(error))
        ? `PostgreSQL at ${address} does not support TLS, which the URL of the database requires. Turn on \`ssl\` in the server.`
        : null;
  }
}

/** A message of pg, which has no code. */
const noTls = /^The server does not support SSL connections/;

const asName = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : escapeIdentifier(name));
