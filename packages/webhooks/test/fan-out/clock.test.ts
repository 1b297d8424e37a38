import { expect, vi } from 'vitest';
import { type FanOutWorld, test, waits } from './fan-out-world.ts';

/** Longer than the ten seconds in question, so that on a slow machine the step is seen before it ends. */
const stepMs = 60_000;

/** Lets new_record_id() read a clock that `setClockBack` changes. */
async function shiftClock(world: FanOutWorld): Promise<void> {
  await world.rows(`create table test_clock (back_ms int)`);
  await world.rows(`insert into test_clock values (0)`);
  const [source] = await world.rows<{ text: string }>(`select pg_get_functiondef('new_record_id'::regproc) as text`);
  const shifted = `(clock_timestamp() - (select back_ms * interval '1 ms' from test_clock))`;
  await world.rows(source?.text.replaceAll('clock_timestamp()', shifted) ?? '');
}

const setClockBack = (world: FanOutWorld, ms: number) => world.rows(`update test_clock set back_ms = $1`, [ms]);

/** The numbers of the events of a subscription, in the order of its deliveries. */
async function deliveredTo(world: FanOutWorld, subscriptionId: string): Promise<number[]> {
  const rows = await world.rows<{ number: number; sequence: number }>(
    `select (e.snapshot ->> 'number')::int as number, d.sequence::int
     from webhook_delivery d join webhook_event e on e.id = d.event_id
     where d.subscription_id = $1 order by d.sequence`,
    [subscriptionId],
  );
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index + 1));
  return rows.map(({ number }) => number);
}

const until = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('a clock that is set back under load fails no mutation and keeps the order', async ({ world }) => {
  await shiftClock(world);
  const eventsPerPhase = 50;
  const lanes = await Promise.all(Array.from({ length: 4 }, () => world.addAccount()));
  const fanOut = world.start();
  for (const [phase, backMs] of [0, stepMs, 0].entries()) {
    await setClockBack(world, backMs);
    const appendAll = async (account: (typeof lanes)[number]): Promise<void> => {
      for (let event = 1; event <= eventsPerPhase; event += 1) {
        const number = phase * eventsPerPhase + event;
        await world.addEvents(account, 1, 'order.placed', number);
        fanOut.wake(null);
      }
    };
    await Promise.all(lanes.map(appendAll));
  }
  const events = 3 * eventsPerPhase;

  await vi.waitFor(() => expect(world.offered).toHaveLength(4 * events), waits);
  for (const { subscriptionId } of lanes) expect(await deliveredTo(world, subscriptionId)).toEqual(until(events));
  // The ids show that the clock went back.
  const [row] = await world.rows<{ steps: number }>(
    `select count(*)::int as steps from (
       select e.id < lag(e.id) over (partition by d.subscription_id order by d.sequence) as is_back
       from webhook_delivery d join webhook_event e on e.id = d.event_id
     ) step where is_back`,
  );
  expect(row?.steps).toBeGreaterThanOrEqual(4);
});

test('a subscription that is created after the clock was set back receives the later events only', async ({
  world,
}) => {
  await shiftClock(world);
  const account = await world.addAccount(2);
  await setClockBack(world, stepMs);
  const second = await world.subscribe(account, '2026-11-01');
  await world.addEvents(account, 2, 'order.placed', 3);
  const [ids] = await world.rows<{ is_older: boolean }>(
    `select $1::bigint < min(id) as is_older from webhook_event where (snapshot ->> 'number')::int <= 2`,
    [second],
  );
  expect(ids).toEqual({ is_older: true });

  world.start();
  await vi.waitFor(() => expect(world.offered).toHaveLength(6), waits);
  expect(await deliveredTo(world, account.subscriptionId)).toEqual([1, 2, 3, 4]);
  expect(await deliveredTo(world, second)).toEqual([3, 4]);
});
