import { Script } from 'node:vm';
import { errorField } from '../input-error.ts';

/** A repeated group, or several repetitions: only such patterns can take much longer than the text is long. */
const canBeSlow = /\)[*+{]|(?:[*+}].*){3}/s;

/** For all names of a place. Other patterns take less than a millisecond. */
const timeoutMs = 1_000;

const testAll = new Script(
  'const expression = new RegExp(pattern, "u"); for (const name of names) expression.test(name);',
);

/**
 * Whether a pattern takes too long to match names. A regular expression cannot be interrupted, and its steps cannot be counted, so
 * that this and the time of all patterns together are the only limits that depend on the machine.
 */
export function isSlowPattern(pattern: string, names: readonly string[]): boolean {
  if (!canBeSlow.test(pattern)) return false;
  try {
    testAll.runInNewContext({ pattern, names }, { timeout: timeoutMs });
    return false;
  } catch (error) {
    // Another error: it is no regular expression in JavaScript, and is compared by its text.
    return errorField(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
  }
}
