import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { installOrders } from '../support/orders/install-orders.ts';
import { startOrders } from '../support/orders/orders-system.ts';

const kills = 20;
const deliveriesBetweenKills = 10;

const { folder } = await forFile(installOrders());

test('every payment of the installed example arrives when its worker and its shop are killed, and none that was not committed', async () => {
  const system = await forTest(startOrders(folder, { WORKER_LEASE_MS: '1000' }));
  const { deliveries } = system.receiver;
  const traffic = system.startTraffic(25);
  for (let kill = 0; kill < kills; kill += 1) {
    const before = deliveries.length;
    await eventually(() => expect(deliveries.length).toBeGreaterThanOrEqual(before + deliveriesBetweenKills));
    await sleep(Math.random() * 50);
    await system.kill(kill % 2 === 0 ? 'webhook-worker' : 'shop');
  }
  const { paid, refused, failures } = await traffic.stop();
  await system.expectDelivered(paid);
  expect(refused).toBeGreaterThan(kills);
  process.stderr.write(
    `orders-kills: ${JSON.stringify({ paid: paid.length, refused, failures: failures.length, deliveries: deliveries.length })}\n`,
  );
});
