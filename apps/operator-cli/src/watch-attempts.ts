import { setTimeout as sleep } from 'node:timers/promises';
import type { FollowedAttempt } from '@deedwire/actions';
import { StoreUnavailableError } from '@deedwire/store';
import { type Shell, writePart } from './shell.ts';
import type { OutputOptions } from './verb.ts';

const intervalMs = 1_000;

/**
 * Prints attempts as they are recorded, one in a line, until `until` has passed. Waits for the reader of the output, and goes on after
 * the database was unavailable.
 */
export async function watchAttempts(
  shell: Shell,
  { json }: OutputOptions,
  poll: () => Promise<FollowedAttempt[]>,
  untilMs: number,
): Promise<void> {
  let isUnavailable = false;
  for (;;) {
    try {
      for (const attempt of await poll())
        await writePart(shell.stdout.write, `${json ? JSON.stringify(attempt) : lineOf(attempt)}\n`);
      isUnavailable = false;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      if (!isUnavailable && !json) shell.stderr.write('The database is not available. Trying again.\n');
      isUnavailable = true;
    }
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return;
    await sleep(Math.min(intervalMs, leftMs));
  }
}

function lineOf({
  startedAt,
  deliveryId,
  eventType,
  number,
  responseStatus,
  error,
  durationMs,
}: FollowedAttempt): string {
  const result = error ?? `HTTP ${responseStatus}`;
  return `${startedAt.toISOString()}  ${deliveryId}  ${eventType ?? '-'}  attempt ${number}  ${result}  ${durationMs} ms`;
}
