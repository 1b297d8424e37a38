import { expect, test } from 'vitest';
import * as z from 'zod';
import { testService } from '../test/test-service.ts';
import { defineService } from './define-service.ts';
import { isRecordGid, readEventRecord, recordOfSnapshot } from './event-record.ts';
import { defineEvent, withRenderers } from './event.ts';

const snapshot = z.object({ id: z.string() });
const eventAbout = (type: string, record: string, sample = '1') =>
  defineEvent(type, { record: { type: record, id: ({ id }) => id }, snapshot, sample: () => ({ id: sample }) });

const orderPaid = eventAbout('order.paid', 'Order');
const shipmentSent = eventAbout('shipment.sent', 'Shipment');
const customerMoved = eventAbout('customer.moved', 'Customer');
const events = [orderPaid, shipmentSent, customerMoved];

const service = defineService({
  names: testService.names,
  interfaces: { customer: { title: 'Customer', account: 'Customer' } },
  contracts: events.map(({ type }) => ({
    type,
    description: type,
    interfaces: ['customer'],
    versions: [{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null, data: z.object({}) }],
  })),
  events: events.map((event) => withRenderers(event, { '2026-11-01': () => ({}) })),
  tables: { customer_order: { persons: { record: 'Order', noun: 'order', address: 'email' } } },
});
const context = { service, gidNamespace: 'service' };

const uuid = '0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c';

test.each([
  ['Order', '4711', { id: '4711', key: null }],
  ['Order', 'gid://service/Order/4711', { id: '4711', key: null }],
  ['Customer', 'gid://service/Customer/4711', { id: '4711', key: null }],
  ['Order', uuid, null],
  ['Order', `gid://service/Order/${uuid}`, null],
  ['Customer', uuid, null],
  ['Shipment', '4711', { id: '6801857526598801002', key: '4711' }],
  ['Shipment', 'gid://service/Shipment/4711', { id: '6801857526598801002', key: '4711' }],
  ['Shipment', uuid.toUpperCase(), { id: '8516222541460089502', key: uuid }],
  ['Shipment', `gid://service/Shipment/${uuid}`, { id: '8516222541460089502', key: uuid }],
  ['Shipment', 'SO-2026/0001', { id: '7834253358647010543', key: 'SO-2026/0001' }],
  ['Shipment', 'gid://service/Shipment/SO-2026%2F0001', { id: '7834253358647010543', key: 'SO-2026/0001' }],
  ['Shipment', 'gid://service/Order/4711', null],
  ['Shipment', 'gid://other/Shipment/4711', null],
  ['Shipment', 'gid://service/Shipment/', null],
  ['Shipment', '', null],
])('the record %s %s is %j', (type, text, record) => {
  expect(readEventRecord(context, type, text)).toEqual(record);
  expect(isRecordGid(context, type, text)).toBe(record !== null && text.startsWith('gid://'));
});

test('the record of a snapshot is what its event says', () => {
  expect(recordOfSnapshot(context, orderPaid, { id: 'gid://service/Order/4711' })).toEqual({ id: '4711', key: null });
  expect(recordOfSnapshot(context, shipmentSent, { id: uuid })).toEqual({ id: '8516222541460089502', key: uuid });
  expect(recordOfSnapshot(context, { type: 'shop.closed', record: null }, {})).toBeNull();
});

test.each([
  [orderPaid, { id: uuid }, `The event order.paid is about the Order "${uuid}", which must be a number`],
  [
    shipmentSent,
    { id: '' },
    'The event shipment.sent is about the Shipment "", which must be a text of 1 to 200 bytes',
  ],
  [shipmentSent, { id: 4711 }, 'The event shipment.sent is about the Shipment 4711, which must be a text'],
  [shipmentSent, {}, 'The event shipment.sent is about the Shipment undefined, which must be a text'],
  [shipmentSent, { id: 'gid://service/Order/1' }, 'about the Shipment "gid://service/Order/1", which must be a text'],
])('refuses the record of %o with the snapshot %j', (event, of, message) => {
  expect(() => recordOfSnapshot(context, event, of)).toThrow(message);
});
