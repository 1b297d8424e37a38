import { expect, expectTypeOf, test } from 'vitest';
import { testService } from '../test/test-service.ts';
import { formatAccountGid, formatGid, parseAccountGid, parseGid } from './gid.ts';
import { parseRecordId, toRecordId, type AccountId, type RecordId } from './record-id.ts';

const context = { gidNamespace: 'service', service: testService };

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
  const orderId = toRecordId<'Order'>('1');
  expectTypeOf(orderId).toExtend<string>();
  expectTypeOf<string>().not.toExtend<RecordId<'Order'>>();
  expectTypeOf<AccountId>().not.toExtend<RecordId<'WebhookSubscription'>>();
  expectTypeOf<RecordId<'WebhookDelivery'>>().not.toExtend<RecordId<'WebhookEvent'>>();
  expectTypeOf<AccountId>().not.toExtend<RecordId<'Supplier'>>();
});

test('the compiler compares the type name of a global identifier with its id', () => {
  const orderId = toRecordId<'Order'>('1');
  expectTypeOf(parseGid('service', 'Order', '')).toEqualTypeOf<RecordId<'Order'> | null>();
  expectTypeOf(parseAccountGid(context, 'supplier', '')).toEqualTypeOf<AccountId | null>();
  expect(formatGid('service', 'Order', orderId)).toBe('gid://service/Order/1');
  // @ts-expect-error -- the id of another record
  formatGid('service', 'Shipment', orderId);
  // @ts-expect-error -- a text
  formatGid('service', 'Order', '1');
  // @ts-expect-error -- an order is not an account
  formatAccountGid(context, 'customer', orderId);
  // @ts-expect-error -- an API client has no global identifier
  formatGid('service', 'ApiClient', toRecordId<'ApiClient'>('1'));
});

test('the account of an interface has the type that the service says', () => {
  const id: AccountId = toRecordId('7');
  expect(formatAccountGid(context, 'customer', id)).toBe('gid://service/Customer/7');
  expect(parseAccountGid(context, 'customer', 'gid://service/Customer/7')).toBe('7');
  expect(parseAccountGid(context, 'supplier', 'gid://service/Customer/7')).toBeNull();
});
