import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  attackWhile,
  createDatabase,
  maximum,
  processCount,
  ratePerSecond,
  slotMs,
  total,
  worstExcess,
} from './support/hostile-clients.ts';

test('three processes of a client that charges as much as it can admit 2,000 points, 200 per second, and at most 200 more each', async () => {
  const slots = await attackWhile(await createDatabase(), () => sleep(3_000));
  expect(worstExcess(slots)).toBeLessThanOrEqual(ratePerSecond * processCount);
  // The limit is also reached: no client is locked out.
  expect(total(slots)).toBeGreaterThan(maximum + (ratePerSecond * slots.length * slotMs) / 1000 / 2);
  expect(slots.reduce((sum, { rejected }) => sum + rejected, 0)).toBeGreaterThan(100);
});
