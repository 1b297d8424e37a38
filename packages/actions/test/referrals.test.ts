import { expect, test } from 'vitest';
import {
  convertReferral,
  createReferralForPartner,
  declineReferral,
  findReferral,
  listReferralsOfPartner,
} from '../src/index.ts';
import { events, eventTypes, expectRefused, refusals, withoutOutbox } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const convert = (referralId: string) => convertReferral(world.operator, { referralId });
const decline = (referralId: string, reason: string | null = null) =>
  declineReferral(world.operator, { referralId, reason });
const list = (partnerId: string) => listReferralsOfPartner(world.operator, { partnerId, status: null });
const read = (referralId: string) => findReferral(world.partnerApi, world.partner, referralId);

/** The sessions that wait for a lock. */
const blocked = () =>
  world.sql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

test('converting closes the referral, opens a matter, and appends one event', async () => {
  const referralId = await world.refer();
  const { matterId } = await convert(referralId);
  const referral = await read(referralId);
  expect(referral).toMatchObject({
    status: 'CONVERTED',
    closedAt: expect.any(Date),
    matter: { id: matterId, reference: expect.stringMatching(/^M-\d{4}-\d{6}$/), openedAt: expect.any(Date) },
  });
  expect((await events(world)).at(-1)).toEqual({
    event_type: 'referral.converted',
    snapshot: {
      referral: { id: referralId, status: 'CONVERTED', externalReference: null },
      matter: {
        id: matterId,
        reference: referral?.matter?.reference,
        openedAt: referral?.matter?.openedAt.toISOString(),
      },
      convertedAt: referral?.closedAt?.toISOString(),
    },
  });
  expect(world.operator.notified).toBe(1);
});

test('rejects converting or declining a closed referral', async () => {
  const converted = await world.refer();
  await convert(converted);
  await expectRefused(convert(converted), 'CONFLICT', `The referral ${converted} is already CONVERTED.`);
  await expectRefused(decline(converted), 'CONFLICT');
  const declined = await world.refer();
  await decline(declined, 'Not ours.');
  await expectRefused(convert(declined), 'CONFLICT', `The referral ${declined} is already DECLINED.`);
  await expectRefused(decline(declined), 'CONFLICT');
  expect(await read(declined)).toMatchObject({ status: 'DECLINED', matter: null });
  expect(await eventTypes(world)).toEqual([
    'referral.created',
    'referral.converted',
    'referral.created',
    'referral.declined',
  ]);
});

test('one of several concurrent requests closes the referral', async () => {
  const referralId = await world.refer();
  const { settled } = await world.superuser.transaction(async (transaction) => {
    // All requests wait for the lock before the first continues.
    await transaction.query({ name: 'hold', text: 'select from referral for update' }, []);
    const attempts = Array.from({ length: 6 }, (_, index) =>
      index % 2 === 0 ? convert(referralId) : decline(referralId),
    );
    await expect.poll(blocked, { interval: 5 }).toHaveLength(6);
    // Inside an object, so that `transaction` does not await it before it releases the lock.
    return { settled: Promise.allSettled<unknown>(attempts) };
  });
  const results = await settled;
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(refusals(results)).toEqual(Array(5).fill('CONFLICT'));
  expect(await eventTypes(world)).toHaveLength(2);
});

test('changes nothing when the event cannot be appended', async () => {
  const referralId = await world.refer();
  const before = await read(referralId);
  await withoutOutbox(world, async () => {
    await expect(convert(referralId)).rejects.toThrow('no_more');
    await expect(decline(referralId)).rejects.toThrow('no_more');
  });
  expect(await read(referralId)).toEqual(before);
  expect(await world.sql('select from matter')).toEqual([]);
  expect(world.operator.notified).toBe(0);
  expect(await eventTypes(world)).toEqual(['referral.created']);
});

test.each(['gid://service/Referral/999999', 'gid://service/Matter/1', 'nope', ''])(
  'rejects %j, which is not a referral',
  async (gid) => {
    await world.refer();
    await expectRefused(convert(gid), 'NOT_FOUND', `The referral ${gid} does not exist.`);
    await expectRefused(decline(gid), 'NOT_FOUND', `The referral ${gid} does not exist.`);
    expect(await eventTypes(world)).toEqual(['referral.created']);
  },
);

test.each([
  ['', '0 characters'],
  [' \n', '2 characters'],
  ['x'.repeat(1_001), '1,001 characters'],
  ['a\0b', '3 characters'],
  ['\ud800', '1 character'],
])('rejects the reason %j', async (reason, length) => {
  const referralId = await world.refer();
  const message = `The reason must be 1 to 1,000 characters and not blank. It has ${length}.`;
  await expectRefused(decline(referralId, reason), 'INVALID', message);
  expect(await read(referralId)).toMatchObject({ status: 'OPEN' });
});

test('creates a referral for a partner', async () => {
  const details = { clientName: 'Ada', clientEmail: null, externalReference: 'CRM-1', note: null };
  const enter = (partnerId: string, clientName = 'Ada') =>
    createReferralForPartner(world.operator, { ...details, partnerId, clientName });
  const { id } = await enter(world.partner.gid);
  expect(await read(id)).toMatchObject({ clientName: 'Ada', externalReference: 'CRM-1', status: 'OPEN' });
  expect(await events(world)).toEqual([
    {
      event_type: 'referral.created',
      snapshot: { referral: { id, status: 'OPEN', externalReference: 'CRM-1' } },
    },
  ]);
  await expectRefused(enter(world.lender.gid), 'NOT_FOUND');
  await expectRefused(enter('gid://service/Partner/999999'), 'NOT_FOUND');
  await expectRefused(enter(world.partner.gid, ''), 'INVALID');
});

test('lists the referrals of a partner, and rejects an unknown partner', async () => {
  const referralId = await world.refer();
  expect((await list(world.partner.gid)).edges.map(({ node }) => node.id)).toEqual([referralId]);
  expect((await list(world.otherPartner.gid)).edges).toEqual([]);
  await expectRefused(list('gid://service/Partner/999999'), 'NOT_FOUND');
  await expectRefused(list(world.lender.gid.replace('Lender', 'Partner')), 'NOT_FOUND');
});
