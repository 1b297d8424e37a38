import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  addTeamMember,
  convertReferral,
  createLender,
  createOrganization,
  createPartner,
  createReferralForPartner,
  declineReferral,
  findReferral,
  listAllWebhookDeliveries,
  listReferralsOfPartner,
  listTeamMembers,
  RefusedError,
  removeTeamMember,
  readWebhookDelivery,
  updateLender,
  updateTeamMember,
  type RefusalCode,
} from '../src/index.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});

beforeEach(async () => {
  await world.reset();
});

afterAll(async () => {
  await world.close();
});

const events = () => world.sql('select event_type, snapshot from outbox_event order by id');
const eventTypes = async () => (await events()).map((event) => event['event_type']);

const convert = (referralId: string) => convertReferral(world.operator, { referralId });
const decline = (referralId: string, reason: string | null = null) =>
  declineReferral(world.operator, { referralId, reason });
const read = (referralId: string) => findReferral(world.partnerApi, world.partner, referralId);
const members = () => listTeamMembers(world.lenderApi, world.lender);

async function expectRefused(work: Promise<unknown>, code: RefusalCode, message?: string): Promise<void> {
  await expect(work).rejects.toMatchObject({ name: 'RefusedError', code, ...(message && { message }) });
}

/** The sessions that wait for a lock. */
const blocked = () =>
  world.sql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

/** The codes of those that were refused. */
const refusals = (results: PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason instanceof RefusedError ? result.reason.code : result.reason] : [],
  );

/** From now on no event can be written. */
const breakOutbox = () => world.sql('alter table outbox_event add constraint no_more check (false) not valid');
const mendOutbox = () => world.sql('alter table outbox_event drop constraint if exists no_more');

describe('referrals', () => {
  test('a conversion closes the referral, opens a matter and reports both', async () => {
    const referralId = await world.refer();
    const { matterId } = await convert(referralId);
    const referral = await read(referralId);
    expect(referral).toMatchObject({
      status: 'CONVERTED',
      closedAt: expect.any(Date),
      matter: { id: matterId, reference: expect.stringMatching(/^M-\d{4}-\d{6}$/), openedAt: expect.any(Date) },
    });
    expect((await events()).at(-1)).toEqual({
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

  test('a closed referral stays closed, whoever comes first', async () => {
    const converted = await world.refer();
    await convert(converted);
    await expectRefused(convert(converted), 'CONFLICT', `The referral ${converted} is already CONVERTED.`);
    await expectRefused(decline(converted), 'CONFLICT');
    const declined = await world.refer();
    await decline(declined, 'Not ours.');
    await expectRefused(convert(declined), 'CONFLICT', `The referral ${declined} is already DECLINED.`);
    await expectRefused(decline(declined), 'CONFLICT');
    expect(await read(declined)).toMatchObject({ status: 'DECLINED', matter: null });
    expect(await eventTypes()).toEqual([
      'referral.created',
      'referral.converted',
      'referral.created',
      'referral.declined',
    ]);
  });

  test('of many at once one closes it', async () => {
    const referralId = await world.refer();
    const { settled } = await world.superuser.transaction(async (transaction) => {
      // All of them have begun before the first can go on.
      await transaction.query({ name: 'hold', text: 'select from referral for update' }, []);
      const attempts = Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0 ? convert(referralId) : decline(referralId),
      );
      await expect.poll(blocked, { timeout: 20_000, interval: 5 }).toHaveLength(6);
      // In an object, so that it is not awaited before the lock is given up.
      return { settled: Promise.allSettled<unknown>(attempts) };
    });
    const results = await settled;
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(refusals(results)).toEqual(Array(5).fill('CONFLICT'));
    expect(await eventTypes()).toHaveLength(2);
  });

  test('when the event cannot be written nothing changes', async () => {
    const referralId = await world.refer();
    const before = await read(referralId);
    await breakOutbox();
    try {
      await expect(convert(referralId)).rejects.toThrow('no_more');
      await expect(decline(referralId)).rejects.toThrow('no_more');
    } finally {
      await mendOutbox();
    }
    expect(await read(referralId)).toEqual(before);
    expect(await world.sql('select from matter')).toEqual([]);
    expect(world.operator.notified).toBe(0);
    expect(await eventTypes()).toEqual(['referral.created']);
  });

  test.each(['gid://service/Referral/999999', 'gid://service/Matter/1', 'nope', ''])(
    'there is no referral %j',
    async (gid) => {
      await world.refer();
      await expectRefused(convert(gid), 'NOT_FOUND', `The referral ${gid} does not exist.`);
      await expectRefused(decline(gid), 'NOT_FOUND', `The referral ${gid} does not exist.`);
      expect(await eventTypes()).toEqual(['referral.created']);
    },
  );

  test.each(['', ' \n', 'x'.repeat(1_001), 'a\0b', '\ud800'])('%j is no reason', async (reason) => {
    const referralId = await world.refer();
    await expectRefused(decline(referralId, reason), 'INVALID');
    expect(await read(referralId)).toMatchObject({ status: 'OPEN' });
  });

  test('one that a partner made by other means is entered for it', async () => {
    const details = { clientName: 'Ada', clientEmail: null, externalReference: 'CRM-1', note: null };
    const enter = (partnerId: string, clientName = 'Ada') =>
      createReferralForPartner(world.operator, { ...details, partnerId, clientName });
    const { id } = await enter(world.partner.gid);
    expect(await read(id)).toMatchObject({ clientName: 'Ada', externalReference: 'CRM-1', status: 'OPEN' });
    expect(await events()).toEqual([
      {
        event_type: 'referral.created',
        snapshot: { referral: { id, status: 'OPEN', externalReference: 'CRM-1' } },
      },
    ]);
    await expectRefused(enter(world.lender.gid), 'NOT_FOUND');
    await expectRefused(enter('gid://service/Partner/999999'), 'NOT_FOUND');
    await expectRefused(enter(world.partner.gid, ''), 'INVALID');
  });

  test('a list is of a partner that exists', async () => {
    const referralId = await world.refer();
    const list = (partnerId: string) => listReferralsOfPartner(world.operator, { partnerId, status: null });
    expect((await list(world.partner.gid)).edges.map(({ node }) => node.id)).toEqual([referralId]);
    expect((await list(world.otherPartner.gid)).edges).toEqual([]);
    await expectRefused(list('gid://service/Partner/999999'), 'NOT_FOUND');
    await expectRefused(list(world.lender.gid.replace('Lender', 'Partner')), 'NOT_FOUND');
  });
});

describe('team members', () => {
  const member = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' };
  const add = (details: Partial<typeof member> = {}, lenderId = world.lender.gid) =>
    addTeamMember(world.operator, { ...member, ...details, lenderId });

  test('who is added, changed and removed is reported with the lender', async () => {
    const { id } = await add();
    expect(await members()).toEqual([{ id, ...member }]);
    await updateTeamMember(world.operator, { teamMemberId: id, lastName: 'King' });
    const king = { id, ...member, lastName: 'King' };
    expect(await members()).toEqual([king]);
    expect(await removeTeamMember(world.operator, { teamMemberId: id })).toEqual(king);
    expect(await members()).toEqual([]);
    const lender = { id: world.lender.gid, name: 'Lender' };
    expect(await events()).toEqual([
      { event_type: 'team_member.added', snapshot: { lender, teamMember: { id, ...member } } },
      { event_type: 'team_member.updated', snapshot: { lender, teamMember: king } },
      { event_type: 'team_member.removed', snapshot: { lender, teamMember: king } },
    ]);
    await expectRefused(removeTeamMember(world.operator, { teamMemberId: id }), 'NOT_FOUND');
    await expectRefused(updateTeamMember(world.operator, { teamMemberId: id }), 'NOT_FOUND');
  });

  test('a change that changes nothing is not reported', async () => {
    const { id } = await add();
    await updateTeamMember(world.operator, { teamMemberId: id, ...member });
    expect(await eventTypes()).toEqual(['team_member.added']);
  });

  test('an address belongs to one member of a lender, in any case', async () => {
    await add();
    await expectRefused(
      add({ email: 'ADA@example.com' }),
      'CONFLICT',
      'Another team member of Lender has the address ADA@example.com.',
    );
    await add({}, world.otherLender.gid);
    const { id } = await add({ email: 'grace@example.com' });
    await expectRefused(updateTeamMember(world.operator, { teamMemberId: id, email: 'Ada@Example.com' }), 'CONFLICT');
    await updateTeamMember(world.operator, { teamMemberId: id, email: 'GRACE@example.com' });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => add({ email: 'new@example.com' })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(refusals(results)).toEqual(Array(4).fill('CONFLICT'));
  });

  test('a lender has at most 250, also when more are added at once', async () => {
    await world.sql(
      `insert into team_member (account_id, first_name, last_name, email)
       select $1, 'A', 'B', n || '@example.com' from generate_series(1, 245) n`,
      [world.lender.accountId],
    );
    const results = await Promise.allSettled(
      Array.from({ length: 9 }, (_, index) => add({ email: `new${index}@example.com` })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(refusals(results)).toEqual(Array(4).fill('LIMIT_REACHED'));
    await expectRefused(add(), 'LIMIT_REACHED', 'A lender can have 250 team members.');
    expect(await members()).toHaveLength(250);
    expect(await eventTypes()).toHaveLength(5);
  });

  test('what cannot be kept is refused, every detail named', async () => {
    await expectRefused(
      add({ firstName: '', lastName: 'x'.repeat(201), email: 'nope' }),
      'INVALID',
      'The first name must be 1 to 200 characters and not blank. The last name must be 1 to 200 characters and not blank. The email must be a valid address of at most 254 characters.',
    );
    await expectRefused(add({}, world.partner.gid), 'NOT_FOUND');
    await expectRefused(add({}, world.partner.gid.replace('Partner', 'Lender')), 'NOT_FOUND');
    expect(await world.sql('select from team_member')).toEqual([]);
  });

  test('when the event cannot be written nothing changes', async () => {
    const { id } = await add();
    const before = await members();
    await breakOutbox();
    try {
      await expect(add({ email: 'new@example.com' })).rejects.toThrow('no_more');
      await expect(updateTeamMember(world.operator, { teamMemberId: id, lastName: 'King' })).rejects.toThrow('no_more');
      await expect(removeTeamMember(world.operator, { teamMemberId: id })).rejects.toThrow('no_more');
      await expect(updateLender(world.operator, { lenderId: world.lender.gid, name: 'New' })).rejects.toThrow(
        'no_more',
      );
    } finally {
      await mendOutbox();
    }
    expect(await members()).toEqual(before);
    expect(await world.sql('select name from account where id = $1', [world.lender.accountId])).toEqual([
      { name: 'Lender' },
    ]);
  });
});

describe('accounts', () => {
  test('a new name is reported, the same is not', async () => {
    const rename = (name: string, lenderId = world.lender.gid) => updateLender(world.operator, { lenderId, name });
    await rename('New');
    await rename('New');
    expect(await events()).toEqual([
      { event_type: 'lender.updated', snapshot: { lender: { id: world.lender.gid, name: 'New' } } },
    ]);
    await expectRefused(rename(''), 'INVALID');
    await expectRefused(rename('New', world.partner.gid.replace('Partner', 'Lender')), 'NOT_FOUND');
  });

  test('an account is of an organization that exists, and has a name', async () => {
    await expectRefused(createOrganization(world.operator, { name: ' ' }), 'INVALID');
    const { organizationId } = world;
    for (const create of [createLender, createPartner]) {
      await expectRefused(create(world.operator, { organizationId, name: '' }), 'INVALID');
      for (const wrong of ['gid://service/Organization/999999', world.lender.gid, 'nope']) {
        await expectRefused(create(world.operator, { organizationId: wrong, name: 'x' }), 'NOT_FOUND');
      }
    }
    expect(await world.sql(`select from account where name in ('', 'x')`)).toEqual([]);
  });
});

describe('deliveries', () => {
  test('there are none of a subscription or under an identifier that does not exist', async () => {
    const { id } = await world.subscribe();
    const list = (subscriptionId: string | null) =>
      listAllWebhookDeliveries(world.operator, { subscriptionId, status: null });
    expect((await list(id)).edges).toEqual([]);
    expect((await list(null)).edges).toEqual([]);
    await expectRefused(list('gid://service/WebhookSubscription/999999'), 'NOT_FOUND');
    await expectRefused(list('nope'), 'NOT_FOUND');
    for (const deliveryId of ['gid://service/WebhookDelivery/999999', 'nope']) {
      await expectRefused(readWebhookDelivery(world.operator, { deliveryId }), 'NOT_FOUND');
    }
  });
});
