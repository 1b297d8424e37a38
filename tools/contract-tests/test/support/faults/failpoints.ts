import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { endsWithin } from './ends-within.ts';
import type { FaultSystem } from './fault-system.ts';

/** The places of `packages/webhooks/src/kernel/failpoint.ts`. */
export const failpoints = [
  'fan-out-before-write',
  'fan-out-after-write',
  'dispatch-after-send',
  'dispatch-after-response',
  'settle-before-write',
  'settle-after-write',
] as const;

// A worker that owns only shards without events never arrives at the place.
const arrivesWithinMs = 2_000;

/** Runs a worker until its failpoint at the place kills it, after the worker has passed the place `passes` times. */
export async function runUntilFailpoint(system: FaultSystem, place: string, passes: number): Promise<void> {
  const env = { NODE_ENV: 'test', DEEDWIRE_FAILPOINT: `${place}:${passes}` };
  const worker = await system.addWorker(env).catch((error: unknown) => {
    // It can end before it was seen ready.
    if (error instanceof Error && error.message.includes('ended (SIGKILL)')) return null;
    throw error;
  });
  if (worker === null) return system.interruptions.record();
  return system.interruptions.during(worker, async () => {
    if (!(await endsWithin(worker, arrivesWithinMs))) worker.kill('SIGKILL');
    await worker.ended;
  });
}

/**
 * Runs a worker that nothing kills until no delivery is left that a killed one had claimed: a delivery that was claimed five times
 * without a result fails.
 */
export async function finishTaken(system: FaultSystem): Promise<void> {
  const worker = await system.addWorker();
  await eventually(async () =>
    expect(
      await system.observer.run('select from webhook_pending_delivery where claimed_at is not null limit 1'),
    ).toEqual([]),
  );
  worker.kill('SIGTERM');
  await worker.ended;
}
