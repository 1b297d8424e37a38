import { expect, test } from 'vitest';
import { addTeamMember, listTeamMembers, ownLender, readLenderName } from '../src/lender/index.ts';
import { findReferral, listReferrals, readPartner } from '../src/partner/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const ids = ({ edges }: { edges: { node: { id: string } }[] }) => edges.map(({ node }) => node.id);
const withId = (gid: string, id: string) => gid.replace(/[^/]*$/, id);

test('findReferral returns the same for referrals of another account and for unknown or malformed identifiers', async () => {
  const own = await world.refer();
  const others = await world.refer(world.otherPartner);
  for (const id of [
    others,
    withId(own, '999999'),
    withId(own, `0${own.split('/').at(-1)}`),
    own.replace('gid://service/', 'gid://other/'),
    own.replace('/Referral/', '/Matter/'),
    own.replace('/Referral/', '/TeamMember/'),
    own.split('/').at(-1) ?? '',
    `${own}\n`,
    '',
    '\0',
    '\ud800',
  ])
    expect(await findReferral(world.partnerApi, world.partner, id)).toBeNull();
  expect(await findReferral(world.partnerApi, world.partner, own)).toMatchObject({ id: own });
});

test('lists contain only the referrals of the caller', async () => {
  const referralId = await world.refer();
  await world.refer(world.otherPartner);
  expect(ids(await listReferrals(world.partnerApi, world.partner, {}))).toEqual([referralId]);
});

test('a cursor from a record of another account reveals nothing', async () => {
  for (let count = 0; count < 3; count += 1) await world.refer(world.otherPartner);
  const own = await world.refer();
  const { endCursor } = await listReferrals(world.partnerApi, world.otherPartner, { first: 1 });
  expect(await listReferrals(world.partnerApi, world.partner, { after: endCursor })).toMatchObject({ edges: [] });
  const later = await world.refer(world.otherPartner);
  expect(later).not.toBe(own);
  const newest = await listReferrals(world.partnerApi, world.otherPartner, { first: 1 });
  const { edges } = await listReferrals(world.partnerApi, world.partner, { after: newest.endCursor });
  expect(edges.map(({ node }) => node.id)).toEqual([own]);
});

test('each account reads its own record', async () => {
  for (const lenderId of [world.lender.gid, world.otherLender.gid]) {
    await addTeamMember(world.operator, { lenderId, firstName: 'A', lastName: 'B', email: 'a@b.example' });
  }
  expect(ownLender(world.lenderApi, world.lender)).toEqual({ id: world.lender.gid });
  expect(await readLenderName(world.lenderApi, world.lender)).toBe('Lender');
  expect(await listTeamMembers(world.lenderApi, world.lender)).toHaveLength(1);
  expect(await readPartner(world.partnerApi, world.partner)).toEqual({ id: world.partner.gid, name: 'Partner' });
});
