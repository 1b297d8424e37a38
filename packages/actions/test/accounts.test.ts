import { interfaceNames } from '@deedwire/firm';
import { expect, test } from 'vitest';
import { createAccount, createOrganization, updateLender } from '../src/index.ts';
import { events, expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const rename = (name: string, lenderId = world.lender.gid) => updateLender(world.operator, { lenderId, name });

test('appends an event for a new name, and refuses invalid ones', async () => {
  await rename('New');
  const lender = { id: world.lender.gid, name: 'New' };
  expect(await events(world)).toEqual([
    { event_type: 'lender.updated', snapshot: { lender, changed: ['lender.name'] } },
  ]);
  const message = 'The name must be 1 to 200 characters and not blank. It has 201 characters.';
  await expectRefused(rename('x'.repeat(201)), 'INVALID', message);
  await expectRefused(rename('New', world.partner.gid.replace('Partner', 'Lender')), 'NOT_FOUND');
});

test('rejects an account without a name or of an unknown organization', async () => {
  await expectRefused(createOrganization(world.operator, { name: ' ' }), 'INVALID');
  const { organizationId } = world;
  for (const name of interfaceNames) {
    await expectRefused(createAccount(world.operator, name, { organizationId, name: '' }), 'INVALID');
    for (const wrong of ['gid://service/Organization/999999', world.lender.gid, 'nope']) {
      await expectRefused(createAccount(world.operator, name, { organizationId: wrong, name: 'x' }), 'NOT_FOUND');
    }
  }
  expect(await world.sql(`select from account where name in ('', 'x')`)).toEqual([]);
});
