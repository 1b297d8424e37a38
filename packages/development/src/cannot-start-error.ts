import { messageOf, StoreUnavailableError } from '@deedwire/store';

/** A development command cannot start because of something outside it. The message tells the reader what to do. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError';
}

/** Why a command could not start, in a sentence. */
export function describeStartError(error: unknown): string {
  const because = error instanceof StoreUnavailableError ? ` (${messageOf(error.cause)})` : '';
  return `${messageOf(error)}${because}`;
}
