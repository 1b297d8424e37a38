import { UsageError } from './shell.ts';

const timeoutMinSeconds = 5;
export const timeoutMaxSeconds = 15;

/**
 * Reads `--timeout`: the `timeoutSeconds` of a subscription. Undefined if it is not passed.
 *
 * @throws {UsageError}
 */
export function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (seconds >= timeoutMinSeconds && seconds <= timeoutMaxSeconds) return seconds;
  throw new UsageError(`--timeout must be ${timeoutMinSeconds} to ${timeoutMaxSeconds} seconds.`);
}
