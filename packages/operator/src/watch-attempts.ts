import { setTimeout as sleep } from 'node:timers/promises';
import type { FollowedAttempt } from '@deedwire/actions';
import { StoreUnavailableError } from '@deedwire/store';
import { shortGid } from './gid.ts';
import { type Shell, writePart } from './shell.ts';
import type { OutputOptions } from './verb.ts';

const intervalMs = 1_000;

/**
 * Prints attempts as they are recorded, one in a line, until `until` has passed. Waits for the reader of the output, and goes on after
 * the database was unavailable.
 *
 * @throws {StoreUnavailableError} if it was still unavailable at the end
 */
export async function watchAttempts(
  shell: Shell,
  { json }: OutputOptions,
  poll: () => Promise<FollowedAttempt[]>,
  untilMs: number,
): Promise<void> {
  let isAvailable = true;
  for (;;) {
    try {
      for (const attempt of await poll())
        await writePart(shell.stdout.write, `${json ? JSON.stringify(attempt) : lineOf(shell, attempt)}\n`);
      isAvailable = true;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() >= untilMs) throw error;
      if (isAvailable && !json) shell.stderr.write('The database is not available. Trying again.\n');
      isAvailable = false;
    }
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0 && isAvailable) return;
    await sleep(Math.min(intervalMs, Math.max(leftMs, 0)));
  }
}

/** A terminal shows the local time and the number of the delivery, so that a line fits. */
function lineOf({ service, stdout }: Shell, attempt: FollowedAttempt): string {
  const isTerminal = stdout.isTTY === true;
  const { startedAt, deliveryId, eventType, number, responseStatus, error, durationMs } = attempt;
  const start = isTerminal ? startedAt.toLocaleTimeString('en-GB') : startedAt.toISOString();
  const delivery = isTerminal ? shortGid(service, deliveryId) : deliveryId;
  const result = error ?? `HTTP ${responseStatus}`;
  return `${start}  ${delivery}  ${eventType ?? '-'}  attempt ${number}  ${result}  ${durationMs} ms`;
}
