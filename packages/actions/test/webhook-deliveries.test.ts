import { expect, test } from 'vitest';
import { listAllWebhookDeliveries, readWebhookDelivery } from '../src/index.ts';
import { expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const list = (subscriptionId: string | null) =>
  listAllWebhookDeliveries(world.operator, { subscriptionId, status: null });

test('rejects an unknown subscription or delivery', async () => {
  const { id } = await world.subscribe();
  expect((await list(id)).edges).toEqual([]);
  expect((await list(null)).edges).toEqual([]);
  await expectRefused(list('gid://service/WebhookSubscription/999999'), 'NOT_FOUND');
  await expectRefused(list('nope'), 'NOT_FOUND');
  for (const deliveryId of ['gid://service/WebhookDelivery/999999', 'nope']) {
    await expectRefused(readWebhookDelivery(world.operator, { deliveryId }), 'NOT_FOUND');
  }
});
