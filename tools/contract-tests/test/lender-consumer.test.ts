import { addTeamMember, removeTeamMember } from '@deedwire/actions';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import { webhookEventTypes as registeredTypes } from '@deedwire/webhook-events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as operations from '../consumers/loan-desk/generated/2026-11-01.ts';

let t: SharedSystem;

beforeAll(async () => {
  t = await joinSharedSystem();
});

afterAll(() => t.close());

test('a lender reads its name and its members', async () => {
  expect(await t.lender.request(operations.TeamDocument, {})).toEqual({
    lender: {
      id: t.accounts.lender.id,
      name: 'Northwind Building Society',
      members: [
        expect.objectContaining({ firstName: 'Ada', lastName: 'Fairbank', email: 'ada.fairbank@northwind.example' }),
        expect.objectContaining({ firstName: 'Ben' }),
        {
          id: expect.stringMatching(/^gid:\/\/service\/TeamMember\/\d+$/),
          firstName: 'Chloé',
          lastName: 'Marchand',
          email: 'chloe.marchand@northwind.example',
        },
      ],
    },
  });
});

test('a change by the operator is visible immediately, and only to its lender', async () => {
  const person = { firstName: 'Dai', lastName: 'Wei', email: 'dai@southgate.example' };
  expect((await t.otherLender.request(operations.TeamDocument, {})).lender.members).toEqual([]);
  const { id } = await addTeamMember(t.operator, { lenderId: t.accounts.otherLender.id, ...person });
  expect((await t.otherLender.request(operations.TeamDocument, {})).lender.members).toEqual([{ id, ...person }]);
  expect((await t.lender.request(operations.TeamDocument, {})).lender.members).toHaveLength(3);
  await removeTeamMember(t.operator, { teamMemberId: id });
  expect((await t.otherLender.request(operations.TeamDocument, {})).lender.members).toEqual([]);
});

test('the lender interface lists its event types', async () => {
  const { webhookEventTypes } = await t.lender.request(operations.EventTypesDocument, {});
  expect(webhookEventTypes.map(({ type }) => type)).toEqual(
    registeredTypes.filter(({ interfaces }) => interfaces.includes('lender')).map(({ type }) => type),
  );
  expect(webhookEventTypes).toContainEqual({
    type: 'lender.updated',
    description: expect.stringMatching(/\.$/),
    versions: [{ version: '2026-11-01', status: 'CURRENT', sunsetOn: null }],
  });
});
