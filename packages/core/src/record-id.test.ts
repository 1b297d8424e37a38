import { expect, expectTypeOf, test } from 'vitest';
import { defineService } from './define-service.ts';
import { formatAccountGid, formatGid, parseAccountGid, parseGid } from './gid.ts';
import { parseRecordId, toRecordId, type AccountId, type RecordId } from './record-id.ts';

const service = defineService({
  names: { gidNamespace: 'acme', apiKeyPrefix: 'ak', headerPrefix: 'X-Acme', userAgent: 'Acme-Webhooks' },
  interfaces: { lender: { title: 'Lender', account: 'Lender' }, partner: { title: 'Partner', account: 'Partner' } },
});
const context = { gidNamespace: 'service', service };

test.each(['1', '42', '9223372036854775807'])('%s is the id of a record', (text) => {
  expect(parseRecordId(text)).toBe(text);
  expect(toRecordId(text)).toBe(text);
});

test.each(['', '0', '01', '-1', '1.0', '1e3', '9223372036854775808', '9'.repeat(5000), '1\n', '1\0', '١'])(
  '%j is not the id of a record',
  (text) => {
    expect(parseRecordId(text)).toBeNull();
    expect(() => toRecordId(text)).toThrow(TypeError);
  },
);

test('the compiler rejects a text, or the id of another record, in place of an id', () => {
  const referralId = toRecordId<'Referral'>('1');
  expectTypeOf(referralId).toExtend<string>();
  expectTypeOf<string>().not.toExtend<RecordId<'Referral'>>();
  expectTypeOf<AccountId>().not.toExtend<RecordId<'WebhookSubscription'>>();
  expectTypeOf<RecordId<'WebhookDelivery'>>().not.toExtend<RecordId<'WebhookEvent'>>();
  expectTypeOf<AccountId>().not.toExtend<RecordId<'Lender'>>();
});

test('the compiler compares the type name of a global identifier with its id', () => {
  const referralId = toRecordId<'Referral'>('1');
  expectTypeOf(parseGid('service', 'Referral', '')).toEqualTypeOf<RecordId<'Referral'> | null>();
  expectTypeOf(parseAccountGid(context, 'lender', '')).toEqualTypeOf<AccountId | null>();
  expect(formatGid('service', 'Referral', referralId)).toBe('gid://service/Referral/1');
  // @ts-expect-error -- the id of another record
  formatGid('service', 'Matter', referralId);
  // @ts-expect-error -- a text
  formatGid('service', 'Referral', '1');
  // @ts-expect-error -- a referral is not an account
  formatAccountGid(context, 'partner', referralId);
  // @ts-expect-error -- an API client has no global identifier
  formatGid('service', 'ApiClient', toRecordId<'ApiClient'>('1'));
});

test('the account of an interface has the type that the service says', () => {
  const id: AccountId = toRecordId('7');
  expect(formatAccountGid(context, 'partner', id)).toBe('gid://service/Partner/7');
  expect(parseAccountGid(context, 'partner', 'gid://service/Partner/7')).toBe('7');
  expect(parseAccountGid(context, 'lender', 'gid://service/Partner/7')).toBeNull();
});
