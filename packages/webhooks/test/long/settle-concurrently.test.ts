import { expect, test } from 'vitest';
import { settleConcurrently } from '../dispatch-storage/settle-concurrently.ts';
import { StorageWorld } from '../dispatch-storage/support.ts';

test('10,000 calls of four settlers with the same deliveries in different orders do not deadlock', async () => {
  const world = await StorageWorld.create();
  await expect(settleConcurrently(world, 10_000)).resolves.toBeUndefined();
  await world.drop();
});
