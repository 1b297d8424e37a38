import { expect, test } from 'vitest';
import { convertReferral, findReferral } from '../src/partner/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

test('the reference of a matter does not follow from its id, and its number does not repeat', async () => {
  const references: (string | undefined)[] = [];
  for (let index = 0; index < 3; index += 1) {
    const referralId = await world.refer();
    await convertReferral(world.operator, { referralId });
    const referral = await findReferral(world.partnerApi, world.partner, referralId);
    references.push(referral?.matter?.reference);
    await world.sql('truncate matter restart identity cascade');
  }
  const year = new Date().getUTCFullYear();
  expect(references).toEqual([`M-${year}-000001`, `M-${year}-000002`, `M-${year}-000003`]);
});
