import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFaultSystem, type FaultSystem } from './support/faults/fault-system.ts';
import { killAtRandom } from './support/faults/random-kills.ts';
import { expectAllDelivered } from './support/faults/verdict-of.ts';

// The short run. `test/full/faults.test.ts` covers each fault, and `test/long/kills.test.ts` any number of kills.
let system: FaultSystem;

beforeEach(async () => {
  system = await startFaultSystem({ accounts: 4, leaseMs: 1_000 });
});

afterEach(() => system.close());

test('delivers every event when workers and an API are killed under load', { timeout: 300_000 }, async () => {
  system.workers.push(await system.addWorker());
  const load = system.startLoad();
  await killAtRandom(system, { kills: 5 });
  const result = await expectAllDelivered(system, await load.stop());
  expect(result.accepted).toBeGreaterThan(20);
});
