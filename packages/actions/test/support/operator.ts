import { expect } from 'vitest';
import { RefusedError, type RefusedErrorCode } from '../../src/index.ts';
import type { WorldBase } from './world.ts';

export async function expectRefused(work: Promise<unknown>, code: RefusedErrorCode, message?: string): Promise<void> {
  await expect(work).rejects.toMatchObject({ name: 'RefusedError', code, ...(message && { message }) });
}

/** The codes of the rejected requests. */
export function refusals(results: PromiseSettledResult<unknown>[]): unknown[] {
  return results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason instanceof RefusedError ? result.reason.code : result.reason] : [],
  );
}

/** The events of all accounts, oldest first. */
export function events(world: WorldBase): Promise<Record<string, unknown>[]> {
  return world.sql(
    'select e.event_type, e.snapshot from webhook_event_queue q join webhook_event e on e.id = q.event_id order by q.position',
  );
}

export async function eventTypes(world: WorldBase): Promise<unknown[]> {
  return (await events(world)).map((event) => event['event_type']);
}

/** Runs `work` while no event can be appended. */
export async function withoutOutbox(world: WorldBase, work: () => Promise<void>): Promise<void> {
  await world.sql('alter table webhook_event_queue add constraint no_more check (false) not valid');
  try {
    await work();
  } finally {
    await world.sql('alter table webhook_event_queue drop constraint if exists no_more');
  }
}
