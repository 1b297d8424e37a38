import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFaultSystem, type FaultSystem } from '../support/faults/fault-system.ts';
import { killAtRandom } from '../support/faults/random-kills.ts';
import { expectAllDelivered } from '../support/faults/verdict-of.ts';

// The length of the run: `KILLS=500 pnpm test:long kills`.
const kills = Number(process.env['KILLS'] ?? 100);

let system: FaultSystem;

beforeEach(async () => {
  system = await startFaultSystem({ accounts: 8, leaseMs: 1_000 });
});

afterEach(() => system.close());

test('delivers every event when workers and APIs are killed again and again', async () => {
  system.workers.push(await system.addWorker(), await system.addWorker());
  system.apis.push(await system.startApi());
  const load = system.startLoad();
  const startedMs = performance.now();
  await killAtRandom(system, {
    kills,
    onKill(kill, what) {
      if (kill % 10 !== 0 && kill !== kills) return;
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      process.stderr.write(
        `${kill} of ${kills} kills (last: ${what}), ${system.received.deliveries.length} requests, ${seconds} s\n`,
      );
    },
  });
  const result = await expectAllDelivered(system, await load.stop());
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  process.stderr.write(`${JSON.stringify({ kills, seconds, ...result }, null, 2)}\n`);
  expect(result.accepted).toBeGreaterThan(kills);
});
