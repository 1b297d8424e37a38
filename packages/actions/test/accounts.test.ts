import { interfaceNames } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { createAccount, createOrganization } from '../src/index.ts';
import { expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

test('rejects an account without a name or of an unknown organization', async () => {
  await expectRefused(createOrganization(world.operator, { name: ' ' }), 'INVALID');
  const { organizationId } = world;
  for (const name of interfaceNames) {
    await expectRefused(createAccount(world.operator, name, { organizationId, name: '' }), 'INVALID');
    for (const wrong of ['gid://service/Organization/999999', world.supplier.gid, 'nope']) {
      await expectRefused(createAccount(world.operator, name, { organizationId: wrong, name: 'x' }), 'NOT_FOUND');
    }
  }
  expect(await world.sql(`select from account where name in ('', 'x')`)).toEqual([]);
});
