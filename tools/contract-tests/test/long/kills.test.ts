import { afterEach, beforeEach, expect, test } from 'vitest';
import { resetClock, setClockBack } from '../support/faults/database-clock.ts';
import { queueUnknownEvents, startDisturbances } from '../support/faults/disturbances.ts';
import { startFaultSystem, type FaultSystem } from '../support/faults/fault-system.ts';
import { killAtRandom } from '../support/faults/random-kills.ts';
import { expectAllDelivered, windowMax } from '../support/faults/verdict-of.ts';

// The length of the run: `KILLS=500 pnpm test:long long/kills`. 20 take a few minutes.
const kills = Number(process.env['KILLS'] ?? 100);

/** Of every 20 kills, the clock of the database is set back before the first number and reset before the second. */
const clockSteps = { period: 20, back: 8, forward: 11 };

let system: FaultSystem;
let databaseUrl: string;

beforeEach(async () => {
  system = await startFaultSystem({ accounts: 8, leaseMs: 1_000 });
  ({ databaseUrl } = system.t.database);
});

afterEach(() => system.close());

test('delivers every event when workers and APIs are killed again and again, beside other faults', async () => {
  system.workers.push(await system.addWorker(), await system.addWorker());
  system.apis.push(await system.startApi());
  system.received.toleranceSeconds = 3_900;
  const removeUnknownEvents = await queueUnknownEvents(system);
  const disturbances = startDisturbances(system);
  const load = system.startLoad();
  const startedMs = performance.now();
  let steps = 0;
  await killAtRandom(system, {
    kills,
    async onKill(kill, what) {
      if (kill % clockSteps.period === clockSteps.back) await setClockBack(databaseUrl, '1 hour');
      else if (kill % clockSteps.period === clockSteps.forward) await resetClock(databaseUrl);
      if ([clockSteps.back, clockSteps.forward].includes(kill % clockSteps.period)) steps += 1;
      if (kill % 10 !== 0 && kill !== kills) return;
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      process.stderr.write(
        `${kill} of ${kills} kills (last: ${what}), ${system.received.deliveries.length} requests, ${seconds} s\n`,
      );
    },
  });
  await disturbances.stop();
  if (steps % 2 === 1) await resetClock(databaseUrl);
  await removeUnknownEvents();
  // What is unsettled when all sessions end cannot be read. A locked delivery can neither be recorded nor postponed.
  const ofSteps = 2 * Math.ceil(steps / 2) * windowMax * system.subscriptions.size;
  const result = await expectAllDelivered(system, await load.stop(), ofSteps + disturbances.lockedDeliveries);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const disturbed = Object.fromEntries(disturbances.counts);
  process.stderr.write(`${JSON.stringify({ kills, seconds, steps, disturbed, ...result }, null, 2)}\n`);
  expect(result.accepted).toBeGreaterThan(kills);
});
