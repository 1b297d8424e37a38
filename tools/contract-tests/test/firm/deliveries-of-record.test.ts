import { joinSharedSystem } from '@deedwire/dev-environment/test/firm/harness';
import { addTeamMember, removeTeamMember, updateLender, updateTeamMember } from '@deedwire/firm/lender';
import { convertReferral, createReferralForPartner } from '@deedwire/firm/partner';
import { eventually, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { createInterfaceClient } from '../support/interface-client.ts';
import { served } from './support/firm-contracts.ts';

const t = await forFile(joinSharedSystem());
const receiver = await forFile(startReceiver());

interface Delivery {
  id: string;
  subscriptionId: string;
  status: string;
  event: { type: string };
}
interface Page {
  nodes: Delivery[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

const query = `query ($first: Int, $after: String, $recordId: ID, $subscriptionId: ID, $status: WebhookDeliveryStatus,
    $eventType: String, $since: DateTime, $until: DateTime) {
  webhookDeliveries(first: $first, after: $after, recordId: $recordId, subscriptionId: $subscriptionId, status: $status,
    eventType: $eventType, since: $since, until: $until) {
    nodes { id subscriptionId status event { type } } pageInfo { endCursor hasNextPage }
  }
}`;

/** The requests of an account to a version of its interface. */
function clientOf(account: keyof typeof t.accounts, date: string) {
  const { send, request, mutate } = createInterfaceClient(t, account, date);
  return {
    send: (variables: object) => send<Page>(query, variables),
    list: (variables: object) => request<Page>(query, variables),
    types: async (variables: object) => (await request<Page>(query, variables)).nodes.map(({ event }) => event.type),
    async subscribe(types: readonly string[]): Promise<string> {
      const { webhookSubscription, userErrors } = await mutate<{ webhookSubscription: { id: string } | null }>(
        'createWebhookSubscription',
        'webhookSubscription { id }',
        { callbackUrl: receiver.url, eventTypes: types.map((type) => ({ type })) },
      );
      if (webhookSubscription === null) throw new Error(JSON.stringify(userErrors));
      return webhookSubscription.id;
    },
  };
}

const memberTypes = ['team_member.added', 'team_member.updated', 'team_member.removed'];
const referralTypes = ['referral.created', 'referral.converted'];
const date = '2026-11-01';
const lenderSubscription = await clientOf('lender', date).subscribe([...memberTypes, 'lender.updated']);
const partnerSubscription = await clientOf('partner', date).subscribe(referralTypes);
const secondSubscription = await clientOf('partner', date).subscribe(['referral.created']);

const { id: lenderId } = t.accounts.lender;
const person = { firstName: 'Ada', lastName: 'King', email: 'ada.king@example.com' };
const { id: teamMemberId } = await addTeamMember(t.operator, { lenderId, ...person });
await updateTeamMember(t.operator, { teamMemberId, lastName: 'Lovelace' });
await removeTeamMember(t.operator, { teamMemberId });
await updateLender(t.operator, { lenderId, name: 'Northwind' });
const details = { partnerId: t.accounts.partner.id, clientEmail: null, note: null, externalReference: null };
const { id: referralId } = await createReferralForPartner(t.operator, { ...details, clientName: 'Ada' });
const { matterId } = await convertReferral(t.operator, { referralId });
const { id: otherReferralId } = await createReferralForPartner(t.operator, { ...details, clientName: 'Grace' });
// The strangers have deliveries too, without which nothing would be read for them.
await clientOf('otherLender', date).subscribe(['lender.updated']);
await clientOf('otherPartner', date).subscribe(['referral.created']);
await updateLender(t.operator, { lenderId: t.accounts.otherLender.id, name: 'Southwind' });
await createReferralForPartner(t.operator, { ...details, partnerId: t.accounts.otherPartner.id, clientName: 'Emmy' });
await receiver.waitFor(11);

const partners = served.filter(({ account }) => account === 'partner');
const lenders = served.filter(({ account }) => account === 'lender');

test.each(lenders)('the lender interface at $date finds the events about a team member and the lender', async (at) => {
  const { types } = clientOf('lender', at.date);
  await eventually(async () =>
    expect(await types({ recordId: teamMemberId, status: 'DELIVERED' })).toEqual(memberTypes.toReversed()),
  );
  // Of an event about both, the team member is the record.
  expect(await types({ recordId: lenderId })).toEqual(['lender.updated']);
  expect(
    await types({ recordId: teamMemberId, subscriptionId: lenderSubscription, eventType: 'team_member.added' }),
  ).toEqual(['team_member.added']);
  expect(await types({ recordId: teamMemberId, eventType: 'lender.updated' })).toEqual([]);
  expect(await types({ recordId: null, eventType: 'lender.updated' })).toEqual(['lender.updated']);
});

describe.each(partners)('the partner interface at $date', (at) => {
  const { list, types } = clientOf('partner', at.date);

  test('finds the events about a referral in pages, newest first, including with other filters', async () => {
    const created = ['referral.created', 'referral.created'];
    await eventually(async () =>
      expect(await types({ recordId: referralId, status: 'DELIVERED' })).toEqual(['referral.converted', ...created]),
    );
    expect(await types({ recordId: otherReferralId })).toEqual(created);
    expect(await types({ recordId: referralId, subscriptionId: secondSubscription })).toEqual(['referral.created']);
    expect(
      await types({ recordId: referralId, subscriptionId: partnerSubscription, eventType: 'referral.created' }),
    ).toEqual(['referral.created']);
    expect(await types({ recordId: referralId, status: 'FAILED' })).toEqual([]);
    expect(await types({ recordId: referralId, until: '2026-01-02T00:00:00Z' })).toEqual([]);
    expect(
      await types({ recordId: referralId, since: '2026-01-02T00:00:00Z', until: '2090-01-01T00:00:00Z' }),
    ).toHaveLength(3);

    const all = await list({ recordId: referralId });
    expect(all.pageInfo.hasNextPage).toBe(false);
    const paged: Delivery[] = [];
    for (let page: Page | null = null; page?.pageInfo.hasNextPage !== false;) {
      page = await list({ recordId: referralId, first: 1, after: page?.pageInfo.endCursor ?? null });
      paged.push(...page.nodes);
    }
    expect(paged).toEqual(all.nodes);
  });

  test('the matter of a referral is no record of an event', async () => {
    const { body } = await clientOf('partner', at.date).send({ recordId: matterId });
    expect(body.data?.['webhookDeliveries']?.nodes ?? []).toEqual([]);
  });
});

const rejected = {
  errors: [
    {
      message: expect.stringContaining('`recordId` must be the global identifier of a Lender or a TeamMember'),
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ],
};

const numberOf = (gid: string): string => gid.split('/').at(-1) ?? '';

test.each([...lenders, ...partners])(
  'the $account interface at $date shows no delivery of a foreign record, or of a wrong identifier',
  async (at) => {
    const { send } = clientOf(at.account, at.date);
    const stranger = clientOf(at.account === 'lender' ? 'otherLender' : 'otherPartner', at.date);
    const own = at.account === 'lender' ? [teamMemberId, lenderId] : [referralId];
    const empty = { status: 200, nodes: [], errors: undefined };
    const answer = async (sending: ReturnType<typeof send>) => {
      const { status, body } = await sending;
      return { status, nodes: body.data?.['webhookDeliveries']?.nodes, errors: body.errors };
    };
    for (const recordId of own) {
      expect(await answer(stranger.send({ recordId }))).toEqual(empty);
      expect(await answer(stranger.send({ recordId, status: 'DELIVERED' }))).toEqual(empty);
    }
    const [type = ''] = at.account === 'lender' ? ['TeamMember'] : ['Referral'];
    expect(await answer(send({ recordId: `gid://service/${type}/1` }))).toEqual(empty);
    // The number of another record, with a type of the interface.
    const others =
      at.account === 'lender' ? [`Lender/${numberOf(teamMemberId)}`, `TeamMember/${numberOf(lenderId)}`] : [];
    for (const other of [...others, `${type}/${numberOf(at.account === 'lender' ? referralId : teamMemberId)}`])
      expect(await answer(send({ recordId: `gid://service/${other}` }))).toEqual(empty);

    const isStrict = at.account === 'lender' && at.date !== '2026-11-01';
    const foreignType = at.account === 'lender' ? referralId : teamMemberId;
    const wrong = [
      foreignType,
      matterId,
      numberOf(referralId),
      'gid://other/TeamMember/1',
      `gid://service/${type}/0`,
      '',
    ];
    for (const recordId of wrong) expect(await answer(send({ recordId }))).toMatchObject(isStrict ? rejected : empty);
  },
);
