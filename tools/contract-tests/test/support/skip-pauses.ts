import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, vi } from 'vitest';

/**
 * Commands of operators that run in this process pause after each statement for three times as long as it took, so that others get most
 * of the database. No other needs it here, and on a busy machine these are most of the time of a test. Until the end of the test file,
 * they do not pause.
 */
export function skipPauses(): void {
  const { setTimeout: sleep } = timers;
  const spy = vi.spyOn(timers, 'setTimeout').mockImplementation((ms, value, options) =>
    // What was measured is no whole number of milliseconds. What was chosen is one.
    sleep(Number.isInteger(ms) ? ms : 0, value, options),
  );
  // The modules that are loaded have imported it by its name.
  syncBuiltinESMExports();
  afterAll(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}
