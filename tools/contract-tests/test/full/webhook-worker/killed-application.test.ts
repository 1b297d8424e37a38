import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAccountGid } from '@deedwire/core';
import { createHarness } from '@deedwire/dev-environment/harness';
import { startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const kills = 20;

test('of an application that is killed, the events of committed transactions arrive, and no others', async () => {
  const harness = await forTest(createHarness());
  const receiver = await forTest(startReceiver());
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.sql('create table shop_order (id uuid primary key)');
  const account = formatAccountGid(harness.customerApi, 'customer', harness.accounts.customer.accountId);
  let worker = await harness.startWorker({ POLL_INTERVAL_MS: 50 });
  for (let kill = 0; kill < kills; kill += 1) {
    const application = spawn(
      process.execPath,
      [
        '--conditions=deedwire-source',
        join(import.meta.dirname, '../../support/appending-application.ts'),
        harness.database.databaseUrl,
        account,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(application.stdout, 'data');
    await sleep(Math.random() * 50);
    application.kill('SIGKILL');
    await once(application, 'exit');
    // Some events are committed while no worker runs.
    if (kill % 5 === 4) {
      await harness.stopWorker(worker);
      worker = await harness.startWorker({ POLL_INTERVAL_MS: 50 });
    }
  }
  const orders = (await harness.sql('select id from shop_order order by id')).map(({ id }) => String(id));
  expect(orders.length).toBeGreaterThanOrEqual(kills);
  await receiver.waitFor(orders.length);
  await sleep(200);
  const items = receiver.deliveries.map(({ body }): string => JSON.parse(body.toString()).data.item);
  expect(items.toSorted()).toEqual(orders);
});
