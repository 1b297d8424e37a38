import { expect, test } from 'vitest';
import { expectReplayOfKilledWorkers } from './support/replay-kills.ts';

test('a replay is complete although its workers are killed before and after they queue deliveries', async () => {
  expect.hasAssertions();
  await expectReplayOfKilledWorkers(3, 400);
});
