import { setTimeout as sleep } from 'node:timers/promises';
import { freezeServer } from '@deedwire/embedded-postgres';
import { describe, expect, test } from 'vitest';
import {
  attackWhile,
  createDatabase,
  createServer,
  currentSlot,
  processCount,
  ratePerSecond,
  slotMs,
  total,
  worstExcess,
} from '../support/hostile-clients.ts';

describe('three processes of a client that charges as many operations as it can', () => {
  test('get no points from steps of the clock of the database', async () => {
    const database = await createDatabase();
    const slots = await attackWhile(database, async () => {
      for (let step = 0; step < 40; step += 1) {
        await sleep(100);
        const hours = step % 2 === 0 ? 1 : -1;
        await database.superuser.run('update cost_bucket set settled_at = settled_at - make_interval(hours => $1)', [
          hours,
        ]);
      }
    });
    expect(worstExcess(slots)).toBeLessThanOrEqual(ratePerSecond * processCount);
  });

  test('spend the points of half a second in advance while the database does not respond', async () => {
    const server = await createServer();
    let frozen = { from: 0, to: 0 };
    const slots = await attackWhile(server, async () => {
      await sleep(1_000);
      const thaw = await freezeServer(server.serverUrl);
      const from = currentSlot();
      await sleep(4_000);
      frozen = { from, to: currentSlot() };
      thaw();
      await sleep(2_000);
    });
    expect(worstExcess(slots)).toBeLessThanOrEqual(ratePerSecond * processCount);
    const during = slots.filter(({ slot }) => slot > frozen.from && slot < frozen.to);
    const seconds = (during.length * slotMs) / 1000;
    const admitted = total(during);
    expect(seconds).toBeGreaterThan(2);
    expect(admitted).toBeGreaterThan(0);
    expect(admitted).toBeLessThanOrEqual(ratePerSecond * processCount);
  });
});
