import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import type { FaultSystem } from './fault-system.ts';
import { judge, type Verdict } from './judge.ts';
import type { LoadResult } from './load.ts';

/** The responses that an API may send during a fault: no client error, and not INTERNAL_SERVER_ERROR. */
const expectedFailures = ['503 SERVICE_UNAVAILABLE', '503 OPERATION_TIMEOUT', 'IDEMPOTENCY_IN_PROGRESS', 'no response'];

/** The maximum of concurrent requests of a lane: a worker that loses its lease repeats at most so many of each. */
export const windowMax = 16;

// Guards against hanging only: leases and retries take seconds.
const deliveredWithinMs = 180_000;

export interface Result extends Verdict {
  accepted: number;
  /** The sum over all interruptions of deliveries that were sent and not settled at that moment. */
  allowedRepeats: number;
  /**
   * Workers that were declared dead, but not by an interruption that was observed: they got no processor time for a lease, or
   * ended before they could be observed. For each, 16 repeats of every subscription are allowed.
   */
  unobserved: number;
  /** Attempts after a recorded failure, for example a response that came too late. They are no repeats. */
  retries: number;
}

/**
 * Waits until every accepted event is delivered and nothing is pending, then compares: all events, and the repeats since the
 * last comparison of the same system.
 *
 * @param furtherRepeats repeats that are allowed in addition, because what was unsettled could not be observed
 */
export async function expectAllDelivered(
  system: FaultSystem,
  { failures }: LoadResult,
  furtherRepeats = 0,
): Promise<Result> {
  const { observer, accepted, received, subscriptions, interruptions } = system;
  expect([...failures].filter((failure) => !expectedFailures.includes(failure))).toEqual([]);
  const events = await accepted.read();
  const verdict = () => judge(events, received.deliveries, subscriptions, interruptions.unsettled);
  await eventually(async () => {
    // Waiting longer would not help, here or in the next test of the same system.
    if ((await readFailed(observer)).length > 0) return;
    const [left] = await observer.run(
      `select (select count(*)::int from webhook_event_queue) as queued,
         (select count(*)::int from webhook_pending_delivery) as pending`,
    );
    expect(left).toEqual({ queued: 0, pending: 0 });
    // Last: it compares everything that was ever delivered.
    expect(verdict().lost).toBe(0);
  }, deliveredWithinMs);
  expect(await readFailed(observer)).toEqual([]);

  const { lost, unexpected, badSignatures, changedRepeats, gaps, ...counts } = verdict();
  expect({ lost, unexpected, badSignatures, changedRepeats, gaps }).toEqual({
    lost: 0,
    unexpected: 0,
    badSignatures: 0,
    changedRepeats: 0,
    gaps: 0,
  });
  const [dead] = await observer.run(
    `select count(*)::int as workers from webhook_worker where not alive and id <> all ($1::bigint[])`,
    [[...interruptions.observedWorkers]],
  );
  const unobserved = Number(dead?.['workers']);
  const unexplained = counts.repeats - counts.explained;
  const before = system.compared;
  system.compared = { unexplained, unobserved };
  expect(unexplained - before.unexplained).toBeLessThanOrEqual(
    furtherRepeats + (unobserved - before.unobserved) * windowMax * subscriptions.size,
  );
  return {
    lost,
    unexpected,
    badSignatures,
    changedRepeats,
    gaps,
    ...counts,
    accepted: events.length,
    allowedRepeats: interruptions.allowedRepeats,
    unobserved,
    retries: await countRetries(received, observer),
  };
}

/** The attempts of a few deliveries that failed for ever. */
function readFailed(observer: FaultSystem['observer']) {
  return observer.run(
    `select delivery_id, number, started_at, response_status, error
     from webhook_attempt
     where delivery_id in (select delivery_id from webhook_failed_delivery limit 3)
     order by delivery_id, number`,
  );
}

/** Every further attempt follows a recorded failure. */
async function countRetries(
  { deliveries }: FaultSystem['received'],
  observer: FaultSystem['observer'],
): Promise<number> {
  const retries = deliveries.filter(({ attempt }) => attempt > 1);
  const [unfounded] = await observer.run(
    `select count(*)::int as retries
     from unnest($1::bigint[], $2::int[]) r (delivery_id, number)
     where not exists (
       select from webhook_attempt a
       where a.delivery_id = r.delivery_id and a.number = r.number - 1
         and (a.error is not null or a.response_status not between 200 and 299)
     )`,
    [retries.map(({ webhookId }) => webhookId.split('/').at(-1)), retries.map(({ attempt }) => attempt)],
  );
  expect(unfounded).toEqual({ retries: 0 });
  return retries.length;
}
