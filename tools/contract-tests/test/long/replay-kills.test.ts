import { expect, test } from 'vitest';
import { expectReplayOfKilledWorkers } from '../support/replay-kills.ts';

const kills = 200;
// More than the kills let through, so that each interrupts the replay.
const deliveriesPerKill = 100;

test('a replay is complete although 200 workers are killed before and after they queue deliveries', async () => {
  expect.hasAssertions();
  const deliveries = kills * deliveriesPerKill;
  const repeats = await expectReplayOfKilledWorkers(kills, deliveries);
  process.stderr.write(`${kills} kills, ${deliveries} deliveries, ${repeats} repeats\n`);
});
