import { events, expectRefused } from '@deedwire/actions/test-support';
import { expect, test } from 'vitest';
import { updateLender } from '../src/lender/index.ts';
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
