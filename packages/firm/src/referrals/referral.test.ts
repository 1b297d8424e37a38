import { expect, test } from 'vitest';
import { canCloseReferral, findReferralProblems, isDeclineReason } from './referral.ts';

const good = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'CRM-7', note: '' };

test('requires only the client name', () => {
  expect(findReferralProblems(good)).toEqual([]);
  expect(findReferralProblems({ clientName: 'Ada', clientEmail: null, externalReference: null, note: null })).toEqual(
    [],
  );
});

test('reports all invalid details together', () => {
  const bad = { clientName: ' ', clientEmail: 'ada', externalReference: 'x'.repeat(201), note: '\0' };
  expect(findReferralProblems(bad).map(({ detail }) => detail)).toEqual([
    'clientName',
    'clientEmail',
    'externalReference',
    'note',
  ]);
});

test.each([
  ['clientName', (length: number) => 'x'.repeat(length), 200],
  ['clientEmail', (length: number) => `${'a'.repeat(length - 6)}@b.com`, 254],
  ['externalReference', (length: number) => 'x'.repeat(length), 200],
  ['note', (length: number) => 'x'.repeat(length), 5_000],
] as const)('limits the length of %s', (detail, text, limit) => {
  expect(findReferralProblems({ ...good, [detail]: text(limit) })).toEqual([]);
  expect(findReferralProblems({ ...good, [detail]: text(limit + 1) })).toMatchObject([{ detail }]);
});

test('names the limit and the length that was found', () => {
  const clientEmail = `${'a'.repeat(250)}@b.co`;
  expect(
    findReferralProblems({ ...good, clientName: '', clientEmail, note: 'x'.repeat(5_001) }).map((each) => each.message),
  ).toEqual([
    'The client name must be 1 to 200 characters and not blank. It has 0 characters.',
    'The client email must be a valid address of at most 254 characters. It has 255 characters.',
    'The note must be at most 5,000 characters. It has 5,001 characters.',
  ]);
});

test('allows only an open referral to be closed', () => {
  expect([canCloseReferral('OPEN'), canCloseReferral('CONVERTED'), canCloseReferral('DECLINED')]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each(['', ' ', 'x'.repeat(1001), 'a\0b', '\ud800'])('rejects %j as a reason for declining', (reason) => {
  expect(isDeclineReason(reason)).toBe(false);
  expect(isDeclineReason('x'.repeat(1000))).toBe(true);
});
