import { expect, test } from 'vitest';
import { expectReplayOfKilledWorkers } from './support/replay-kills.ts';

test('a replay is complete although its workers are killed before and after they queue deliveries', async () => {
  expect.hasAssertions();
  // `KILLS=200` is a longer run. The deliveries are more than the kills let through, so that each interrupts the replay.
  const kills = Number(process.env['KILLS'] ?? 3);
  await expectReplayOfKilledWorkers(kills, Math.max(400, kills * 100));
});
