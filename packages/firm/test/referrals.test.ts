import { events, eventTypes, expectRefused, refusals, withoutOutbox } from '@deedwire/actions/test-support';
import { describe, expect, test } from 'vitest';
import {
  convertReferral,
  createReferralForPartner,
  declineReferral,
  findReferral,
  listReferrals,
  listReferralsOfPartner,
  type ReferralsRequest,
} from '../src/partner/index.ts';
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

test('rejects a reason that is too long', async () => {
  const referralId = await world.refer();
  const message = 'The reason must be 1 to 1,000 characters and not blank. It has 1,001 characters.';
  await expectRefused(decline(referralId, 'x'.repeat(1_001)), 'INVALID', message);
  expect(await read(referralId)).toMatchObject({ status: 'OPEN' });
});

test('creates a referral for a partner', async () => {
  const details = { clientName: 'Ada', clientEmail: null, externalReference: 'CRM-1', note: null };
  const enter = (partnerId: string, clientName = 'Ada') =>
    createReferralForPartner(world.operator, { ...details, partnerId, clientName });
  const { id } = await enter(world.partner.gid);
  expect(await read(id)).toMatchObject({ clientName: 'Ada', externalReference: 'CRM-1', status: 'OPEN' });
  expect(await events(world)).toEqual([
    { event_type: 'referral.created', snapshot: { referral: { id, status: 'OPEN', externalReference: 'CRM-1' } } },
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

/** Referrals of the partner with these references. The others are closed, in this order. */
async function refer(references: readonly (string | null)[]): Promise<string[]> {
  const ids: string[] = [];
  for (const externalReference of references) {
    const details = { clientName: 'Ada', clientEmail: null, externalReference, note: null };
    ids.push((await createReferralForPartner(world.operator, { ...details, partnerId: world.partner.gid })).id);
  }
  return ids;
}
const names = (ids: readonly string[], found: readonly string[]) =>
  found.map((id) => 'abcdef'[ids.indexOf(id)]).join('');
const page = async (request: ReferralsRequest) => listReferrals(world.partnerApi, world.partner, request);
const idsOf = async (request: ReferralsRequest) => (await page(request)).edges.map(({ node }) => node.id);

describe('the filters of a list', () => {
  test('select by reference, status, creation and closing, alone and together', async () => {
    const ids = await refer(['x', 'y', 'x', null, 'x', 'y']);
    const [a = '', b = '', c = '', d = '', e = ''] = ids;
    for (const id of [d, b]) await convert(id);
    for (const id of [c, a]) await decline(id);
    for (const [hour, id] of [d, b, c, a].entries()) {
      const closedAt = `2090-01-01T0${hour}:00:00Z`;
      await world.sql(`update referral set closed_at = $2 where id = $1`, [id.split('/').at(-1), closedAt]);
    }
    // As exact as a filter, so that a referral can be created at the very time of one.
    await world.sql(`update referral set created_at = date_trunc('milliseconds', created_at)`);
    const times = new Map(await Promise.all(ids.map(async (id) => [id, await read(id)] as const)));
    const created = (id: string) => times.get(id)?.createdAt ?? new Date(Number.NaN);
    const closed = (id: string) => times.get(id)?.closedAt ?? new Date(Number.NaN);
    const select = async (request: ReferralsRequest) => names(ids, await idsOf(request));

    expect(await select({})).toBe('fedcba');
    expect(await select({ externalReference: 'x' })).toBe('eca');
    expect(await select({ externalReference: 'x', status: 'DECLINED' })).toBe('ca');
    expect(await select({ externalReference: 'X' })).toBe('');
    expect(await select({ createdAfter: created(e) })).toContain('fe');
    expect(await select({ createdBefore: new Date(created(a).getTime()) })).toBe('');
    expect(await select({ createdAfter: created(a), createdBefore: new Date(created(d).getTime() + 1) })).toContain(
      'dcba',
    );
    expect(await select({ createdBefore: new Date('2020-01-01T00:00:00Z') })).toBe('');
    expect(await select({ createdAfter: new Date('9999-12-31T23:59:59Z') })).toBe('');
    expect(await select({ createdAfter: new Date('0001-01-01T00:00:00Z'), status: 'OPEN' })).toBe('fe');
    expect(await select({ closedAfter: closed(d) })).toBe('dbca');
    expect(await select({ closedAfter: closed(b) })).toBe('bca');
    expect(await select({ closedAfter: new Date(closed(b).getTime() + 1) })).toBe('ca');
    expect(await select({ closedAfter: closed(d), status: 'CONVERTED' })).toBe('db');
    expect(await select({ closedAfter: closed(d), status: 'OPEN' })).toBe('');
    expect(await select({ closedAfter: closed(d), externalReference: 'x' })).toBe('ca');
    expect(await select({ closedAfter: closed(d), externalReference: 'x', status: 'CONVERTED' })).toBe('');
    expect(await select({ closedAfter: created(a), createdBefore: created(a) })).toBe('');
    expect(await select({ closedAfter: created(a), createdAfter: created(a), externalReference: 'y' })).toBe('b');
  });

  test('list only referrals of the caller', async () => {
    await refer(['x']);
    const other = await listReferrals(world.partnerApi, world.otherPartner, { externalReference: 'x' });
    expect(other.edges).toEqual([]);
  });

  test('a page continues in the order of closing, even where several were closed at the same time', async () => {
    const ids = await refer(['x', 'x', 'x', 'x', 'x']);
    await world.sql(`update referral set status = 'DECLINED', closed_at = '2026-11-01T00:00:00Z'`);
    const found: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { edges, endCursor, hasNextPage } = await page({ closedAfter: new Date(0), first: 2, after });
      found.push(...edges.map(({ node }) => node.id));
      [after, more] = [endCursor, hasNextPage];
    }
    expect(names(ids, found)).toBe('abcde');
  });

  test('a page compares at most 170 closed referrals with a period of creation, then continues', async () => {
    const [old = '', recent = ''] = await refer(['x', 'x']);
    await world.sql(
      `insert into referral (id, account_id, client_name, status, created_at, closed_at, external_reference)
       select id - n, account_id, client_name, case when n % 2 = 0 then 'DECLINED' else 'CONVERTED' end, created_at,
         '2090-01-01T00:00:00Z'::timestamptz + n * interval '1 s', 'x'
       from referral, generate_series(1, 400) n where id = $1`,
      [recent.split('/').at(-1)],
    );
    await decline(old);
    await world.sql(
      `update referral set closed_at = '2091-01-01T00:00:00Z', created_at = '2020-01-01T00:00:00Z' where id = $1`,
      [old.split('/').at(-1)],
    );
    const period = { closedAfter: new Date(0), createdBefore: new Date('2026-01-01T00:00:00Z') };
    // As if it had been created then.
    await world.sql(`update referral set id = 5 where id = $1`, [old.split('/').at(-1)]);
    let after: string | null = null;
    for (let compared = 170; compared <= 400; compared += 170) {
      const short = await page({ ...period, after });
      expect(short).toMatchObject({ edges: [], endCursor: expect.any(String), hasNextPage: true });
      after = short.endCursor;
    }
    const rest = await page({ ...period, after });
    expect(rest).toMatchObject({
      edges: [{ node: { createdAt: new Date('2020-01-01T00:00:00Z') } }],
      hasNextPage: false,
    });
    const ofStatus = await page({ ...period, status: 'CONVERTED', externalReference: 'x' });
    expect(ofStatus).toMatchObject({ edges: [], hasNextPage: true });
    const full = await page({ closedAfter: new Date(0), createdAfter: new Date('2026-01-01T00:00:00Z'), first: 100 });
    expect(full.edges).toHaveLength(100);
    let count = 0;
    for (let from: string | null = null, more = true; more;) {
      const next = await page({
        closedAfter: new Date(0),
        createdAfter: new Date('2026-01-01T00:00:00Z'),
        first: 100,
        after: from,
      });
      count += next.edges.length;
      [from, more] = [next.endCursor, next.hasNextPage];
    }
    expect(count).toBe(400);
  });

  test('reject a cursor of the other order', async () => {
    const [id = ''] = await refer(['x']);
    await decline(id);
    const { endCursor: newest } = await page({});
    const { endCursor: closed } = await page({ closedAfter: new Date(0) });
    await expect(page({ after: closed })).rejects.toThrow(
      '`after` is not a cursor of `referrals` without `closedAfter`.',
    );
    await expect(page({ after: newest, closedAfter: new Date(0) })).rejects.toThrow(
      '`after` is not a cursor of `referrals` with `closedAfter`.',
    );
  });
});
