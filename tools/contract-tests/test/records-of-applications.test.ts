import { eventually, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import { parcelScanned, shipmentDelayed, shipmentSent, startShipping } from './support/shipping.ts';

// Records that an application keeps in its own tables, with its own ids.

const t = await startShipping();
const served = await startInterfaces(t);
await t.startWorker();
const receiver = await forFile(startReceiver());

const { customer, otherCustomer, supplier } = t.accounts;
const uuid = '0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c';
const number = 'SO-2026/0001';
const recipient = 'ada@buyer.example';

/** The deliveries that a version lists of a record, by their event types. */
function listerOf(account: keyof typeof t.accounts, date: string) {
  const { send, mutate } = createInterfaceClient(served, account, date);
  return {
    subscribe: (types: string[]) =>
      mutate('createWebhookSubscription', 'webhookSubscription { id }', {
        callbackUrl: receiver.url,
        eventTypes: types.map((type) => ({ type })),
      }),
    list: async (recordId: string, filters: object = {}) => {
      const { body } = await send<{ nodes: { event: { type: string } }[] }>(
        `query ($recordId: ID, $status: WebhookDeliveryStatus, $eventType: String) {
           webhookDeliveries(recordId: $recordId, status: $status, eventType: $eventType) { nodes { event { type } } } }`,
        { recordId, ...filters },
      );
      return body.errors?.[0]?.message ?? body.data?.['webhookDeliveries']?.nodes.map(({ event }) => event.type);
    },
  };
}

const ofCustomer = listerOf('customer', '2026-11-01');
const ofOther = listerOf('otherCustomer', '2026-11-01');
const ofSupplier = listerOf('supplier', '2027-02-01');
await ofCustomer.subscribe(['order.placed', 'shipment.delayed', 'shipment.sent']);
await ofOther.subscribe(['shipment.sent']);
await ofSupplier.subscribe(['parcel.scanned']);
await t.append(customer, shipmentSent, { shipment: { id: uuid.toUpperCase(), recipient } });
await t.append(customer, shipmentDelayed, { shipmentId: uuid, reason: 'Snow' });
await t.append(customer, shipmentSent, { shipment: { id: number, recipient } });
await t.append(otherCustomer, shipmentSent, { shipment: { id: number, recipient } });
await t.append(otherCustomer, shipmentSent, { shipment: { id: '4711', recipient } });
await t.append(supplier, parcelScanned, { parcelId: uuid });
await receiver.waitFor(6);
await eventually(allDelivered);

async function allDelivered(): Promise<void> {
  expect(await t.sql('select from webhook_pending_delivery')).toEqual([]);
}

describe('a client', () => {
  test('finds the deliveries about a record with a UUID, and with any other text', async () => {
    const record = `gid://service/Shipment/${uuid}`;
    const both = ['shipment.delayed', 'shipment.sent'];
    expect(await ofCustomer.list(record)).toEqual(both);
    expect(await ofCustomer.list(record.replace(uuid, uuid.toUpperCase()))).toEqual(both);
    expect(await ofCustomer.list(record, { status: 'DELIVERED' })).toEqual(both);
    expect(await ofCustomer.list(record, { eventType: 'shipment.sent' })).toEqual(['shipment.sent']);
    expect(await ofCustomer.list('gid://service/Shipment/SO-2026%2F0001')).toEqual(['shipment.sent']);
    expect(await ofCustomer.list('gid://service/Shipment/SO-2026%2f0001')).toEqual(['shipment.sent']);
  });

  test('finds none of an unknown record, of another account, or of a text that is no identifier', async () => {
    for (const record of ['Shipment/unknown', 'Shipment/4711', 'Shipment/SO-2026/0001', `Order/${uuid}`, 'Shipment/'])
      expect(await ofCustomer.list(`gid://service/${record}`)).toEqual([]);
    for (const text of [uuid, number, '4711']) expect(await ofCustomer.list(text)).toEqual([]);
    expect(await ofOther.list(`gid://service/Shipment/${uuid}`)).toEqual([]);
    expect(await ofOther.list('gid://service/Shipment/SO-2026%2F0001')).toEqual(['shipment.sent']);
    expect(await ofOther.list('gid://service/Shipment/4711')).toEqual(['shipment.sent']);
  });

  test('of a later version gets an error for what is no identifier of a record', async () => {
    expect(await ofSupplier.list(`gid://service/Parcel/${uuid}`)).toEqual(['parcel.scanned']);
    expect(await ofSupplier.list('gid://service/Parcel/unknown')).toEqual([]);
    for (const text of [uuid, `gid://service/Shipment/${uuid}`, 'gid://service/Parcel/a/b', 'gid://other/Parcel/a'])
      expect(await ofSupplier.list(text)).toContain('`recordId` must be the global identifier of a Parcel');
  });
});

/** The event types of what the command lists, or the error. */
const listAll = async (...options: string[]) => {
  const { exitCode, stdout, stderr } = await t.operate('delivery', 'list', '--json', ...options);
  if (exitCode !== 0) return stderr;
  const rows: { event: { type: string } }[] = JSON.parse(stdout);
  return rows.map(({ event }) => event.type);
};

describe('an operator', () => {
  test.each([`gid://service/Shipment/${uuid}`, `Shipment/${uuid.toUpperCase()}`])(
    'finds them by %s',
    async (record) => {
      expect(await listAll('--record', record)).toEqual(['shipment.delayed', 'shipment.sent']);
    },
  );

  test.each(['gid://service/Shipment/SO-2026%2F0001', 'Shipment/SO-2026%2F0001', 'Shipment/SO-2026/0001', number])(
    'finds those of all accounts by %s, and of one',
    async (record) => {
      expect(await listAll('--record', record)).toEqual(['shipment.sent', 'shipment.sent']);
      expect(await listAll('--record', record, '--account', customer.id)).toEqual(['shipment.sent']);
    },
  );

  test('finds those of the only type that has the id', async () => {
    expect(await listAll('--record', uuid, '--type', 'parcel.scanned')).toEqual(['parcel.scanned']);
    expect(await listAll('--record', '4711', '--type', 'shipment.sent')).toEqual(['shipment.sent']);
    expect(await listAll('--record', '4711', '--type', 'order.placed')).toEqual([]);
  });

  test.each([
    ['4711', '4711 can be the id of several types. Pass Order/4711 or Parcel/4711 or Shipment/4711.'],
    ['Invoice/1', 'This is an Invoice; pass'],
    ['gid://service/Invoice/a', 'for example gid://service/'],
    ['gid://other/Shipment/a', 'Its namespace is other, but GID_NAMESPACE is service.'],
    ['gid://service/Shipment/a/b', 'pass the id of the record, of 1 to 200 bytes, percent-encoded'],
    ['x'.repeat(201), 'The id of a record has 1 to 200 bytes.'],
  ])('gets an error for %s', async (record, message) => {
    expect(await listAll('--record', record)).toContain(message);
  });
});
