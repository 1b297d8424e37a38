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
 * The first pattern that takes too long to match names. A regular expression cannot be interrupted, and its steps cannot be
 * counted, so that this is the only limit that depends on the machine. Undefined if there is none.
 */
export function slowPatternOf(patterns: readonly string[], names: readonly string[]): string | undefined {
  return patterns.find((pattern) => canBeSlow.test(pattern) && isSlow(pattern, names));
}

function isSlow(pattern: string, names: readonly string[]): boolean {
  try {
    testAll.runInNewContext({ pattern, names }, { timeout: timeoutMs });
    return false;
  } catch (error) {
    // Another error: it is no regular expression in JavaScript, and is compared by its text.
    return errorField(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
  }
}
