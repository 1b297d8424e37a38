import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

const events = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Records, until the test has ended, what would end a process of an app. vitest would report it without a test.
 *
 * @returns the errors so far, after two turns of the event loop
 */
export function recordUncaughtErrors(): () => Promise<unknown[]> {
  const found: unknown[] = [];
  const note = (error: unknown): void => void found.push(error);
  for (const event of events) {
    const others = process.rawListeners(event);
    process.removeAllListeners(event).on(event, note);
    onTestFinished(() => {
      process.removeAllListeners(event);
      for (const listener of others) process.on(event, listener);
    });
  }
  return async () => {
    for (let turn = 0; turn < 2; turn += 1) await nextTurn();
    return found;
  };
}
