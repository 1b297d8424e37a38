import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from './app-process.ts';
import type { System } from './start-system.ts';

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** Restarts an app whenever it ends, as a process manager does in production. Stops when `signal` aborts. */
export async function keepRunning(
  system: System,
  name: AppName,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  for (let pauseMs = firstPauseMs; ;) {
    const { exitCode, signal: endSignal } = await system.apps[name].ended;
    if (signal.aborted) return;
    say(`${name} ended (${endSignal ?? exitCode}); restarting it`);
    await sleep(pauseMs);
    if (signal.aborted) return;
    try {
      await system.restart(name);
      pauseMs = firstPauseMs;
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
}
