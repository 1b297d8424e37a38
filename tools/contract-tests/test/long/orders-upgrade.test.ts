import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { checkOutRelease } from '../support/checked-out-release.ts';
import { installOrders, packagesOfOrders } from '../support/orders/install-orders.ts';
import { programNames } from '../support/orders/orders-programs.ts';
import { startOrders } from '../support/orders/orders-system.ts';

// The installed example of the previous release of `@deedwire/service` serves customers while this build replaces it.

const release = await forFile(checkOutRelease('packages/service/CHANGELOG.md', { isBeforeMigration: true }));
const tarballs: string[] = [];
for (const name of packagesOfOrders) tarballs.push(await release.pack(name));
const previous = await forFile(installOrders(tarballs, release.folder));
const current = await forFile(installOrders());

const eventsPerStep = 10;

test.each([
  ['in the documented order', programNames],
  ['with the application first', programNames.toReversed()],
] as const)(
  'no payment fails, and each arrives, when processes are replaced after the migrations, %s',
  async (_, order) => {
    const system = await forTest(startOrders(previous.folder));
    const passEvents = async () => {
      for (let count = 0; count < eventsPerStep; count += 1) await system.passEvent();
      await system.readSubscription();
    };
    const traffic = system.startTraffic(50);
    await passEvents();
    await system.migrate(current.folder);
    await passEvents();
    const ends: [name: string, end: number | string | null][] = [];
    for (const name of order) {
      ends.push([name, await system.replace(name, current.folder, traffic)]);
      await passEvents();
    }
    const { paid, refused, failures } = await traffic.stop();
    // The shop has no handler of signals.
    expect(Object.fromEntries(ends)).toEqual({ 'webhook-worker': 0, 'customer-api': 0, shop: 'SIGTERM' });
    expect(failures).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    await system.expectDelivered(paid);
  },
);
