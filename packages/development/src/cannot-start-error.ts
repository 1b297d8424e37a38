import { commandNames } from '@deedwire/core';
import { DatabaseUrlError, messageOf, StoreUnavailableError, toAccessError } from '@deedwire/store';

/** A development command cannot start because of something outside it. The message tells the reader what to do. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError';
}

/**
 * Why a command could not start, in a sentence, and what to do about a database that a developer has given: the embedded one has a login with
 * all rights.
 *
 * @param databaseUrl that was given, empty if there is none
 */
export function describeStartError(error: unknown, databaseUrl: string): string {
  // Without a URL that can be read, no connection was tried.
  const isGiven = databaseUrl !== '' && !(error instanceof DatabaseUrlError || error instanceof CannotStartError);
  const explained = isGiven ? toAccessError(error, databaseUrl, grantCreate) : error;
  const because = explained instanceof StoreUnavailableError ? ` (${messageOf(explained.cause)})` : '';
  return `${messageOf(explained)}${because}`;
}

const grantCreate = ({ database, login }: Record<'database' | 'login', string>): string =>
  `\`${commandNames().dev}\` needs the login that owns the tables, and may create a schema for what it keeps. Run as the owner of the database: grant create on database ${database} to ${login}`;
