import { expect, test } from 'vitest';
import { checkDate, identifierOf, parseEventName } from './names.ts';

test('derives the names of an event type', () => {
  expect(parseEventName('team_member.role_changed')).toEqual({
    type: 'team_member.role_changed',
    noun: 'team member',
    past: 'role changed',
    field: 'teamMember',
    recordType: 'TeamMember',
    title: 'TeamMemberRoleChanged',
  });
  expect(identifierOf('team_member.added', '2026-11-01')).toBe('teamMemberAdded20261101');
});

test.each(['invoice.paid', 'invoice.repaid', 'offer.withdrawn', 'case.written', 'quote.left'])('accepts %s', (type) => {
  expect(parseEventName(type).type).toBe(type);
});

test.each([
  '',
  'invoice',
  'invoice.',
  '.paid',
  'Invoice.paid',
  'invoice.paid.twice',
  'in voice.paid',
  'invoice-line.paid',
  '../x.added',
  '_a.added',
  'a__b.added',
])('rejects the form of %j', (type) => {
  expect(() => parseEventName(type)).toThrow('is not the name of an event type. Write <noun>.<past participle>');
});

test.each(['invoice.pay', 'invoice.creating', 'invoice.unsuccessful', 'invoice.input'])(
  'rejects the verb of %s',
  (type) => {
    expect(() => parseEventName(type)).toThrow('is not a past participle.');
  },
);

const today = '2026-11-20';

test('accepts today, and a date later than the newest version', () => {
  expect(() => checkDate('2026-11-20', null, today)).not.toThrow();
  expect(() => checkDate('2027-02-02', '2027-02-01', today)).not.toThrow();
});

test.each([
  ['2026-02-30', null, 'is not a date'],
  ['20261120', null, 'is not a date'],
  ['2026-11-20T00', null, 'is not a date'],
  ['2026-11-19', null, 'is in the past. Today is 2026-11-20 in UTC.'],
  ['2027-02-01', '2027-02-01', 'is not later than the newest version, 2027-02-01.'],
  ['2027-01-31', '2027-02-01', 'is not later than the newest version, 2027-02-01.'],
])('rejects %s after %s', (date, newest, reason) => {
  expect(() => checkDate(date, newest, today)).toThrow(reason);
});
