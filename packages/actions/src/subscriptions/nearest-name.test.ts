import { expect, test } from 'vitest';
import { nearestName } from './webhook-event-types.ts';

const names = ['referral.created', 'referral.converted', 'team_member.added', 'webhook.test'];

test.each([
  ['referral.convert', 'referral.converted'],
  ['referral_created', 'referral.created'],
  ['REFERRAL.CREATED', 'referral.created'],
  ['refferal.created', 'referral.created'],
  ['teamMemberAdded', 'team_member.added'],
  ['test', null],
  ['matter.opened', null],
  ['', null],
])('suggests for %s: %s', (wanted, name) => {
  expect(nearestName(wanted, names)).toBe(name);
});
