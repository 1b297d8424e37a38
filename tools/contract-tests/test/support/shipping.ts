import type { Caller } from '@deedwire/actions';
import { appendEvent } from '@deedwire/actions/use-case';
import { defineEvent, defineService, type EventDefinition } from '@deedwire/core';
import { orderPlaced, testService } from '@deedwire/core/test-service';
import { harnessOf, serviceTests } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import * as z from 'zod';

const text = z.string();
const released = { version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null } as const;

const shipment = z.object({ id: text, recipient: text.nullable() });

export const shipmentSent = defineEvent('shipment.sent', {
  record: { type: 'Shipment', id: ({ shipment: { id } }) => id },
  persons: ['shipment.recipient'],
  address: 'shipment.recipient',
  snapshot: z.object({ shipment }),
  sample: () => ({ shipment: { id: 'SO-2026/0001', recipient: 'ada@buyer.example' } }),
});

/** Identifies a person, and has no address. */
export const shipmentDelayed = defineEvent('shipment.delayed', {
  record: { type: 'Shipment', id: ({ shipmentId }) => shipmentId },
  persons: ['reason'],
  snapshot: z.object({ shipmentId: text, reason: text }),
  sample: () => ({ shipmentId: 'SO-2026/0001', reason: 'The buyer was not at home.' }),
});

export const parcelScanned = defineEvent('parcel.scanned', {
  record: { type: 'Parcel', id: ({ parcelId }) => parcelId },
  snapshot: z.object({ parcelId: text }),
  sample: () => ({ parcelId: '0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c' }),
});

const rendered = [
  {
    ...shipmentSent,
    renderers: { '2026-11-01': ({ shipment: { id } }: z.output<typeof shipmentSent.snapshot>) => ({ id }) },
  },
  {
    ...shipmentDelayed,
    renderers: { '2026-11-01': ({ shipmentId: id }: z.output<typeof shipmentDelayed.snapshot>) => ({ id }) },
  },
  {
    ...parcelScanned,
    renderers: { '2026-11-01': ({ parcelId: id }: z.output<typeof parcelScanned.snapshot>) => ({ id }) },
  },
];

const renderers = Object.fromEntries(
  testService.events
    .flatMap(({ type, versions }) => (type === orderPlaced.type ? versions : []))
    .flatMap(({ version, render }) => (render === null ? [] : [[version, render]])),
);

/** The test service with records of whose ids the database knows nothing. */
const shipping = defineService({
  names: testService.names,
  interfaces: testService.interfaces,
  contracts: [
    ...testService.events,
    ...rendered.map(({ type }) => ({
      type,
      description: 'Something happened.',
      interfaces: [type === parcelScanned.type ? 'supplier' : 'customer'],
      versions: [{ ...released, data: z.strictObject({ id: text }) }],
    })),
  ],
  events: [{ ...orderPlaced, renderers }, ...rendered],
  tables: {
    customer_order: { persons: { record: 'Order', noun: 'order', address: 'buyer_email', columns: ['note'] } },
  },
  auditActions: testService.auditActions,
  clientActions: testService.clientActions,
  migrations: new URL(String(testService.migrations)),
});

/** A database of this service, for one test file. */
export async function startShipping() {
  const { callOperator, createHarness } = harnessOf({ ...serviceTests, service: shipping, key: 'shipping' });
  const harness = await forFile(createHarness());
  const env = {
    DATABASE_URL: await harness.database.urlFor('operator'),
    DATABASE_DIRECT_URL: harness.database.databaseUrl,
    OPERATOR_NAME: 'ada',
  };
  return {
    ...harness,
    operate: (...commandArguments: string[]) => callOperator(env, ...commandArguments),
    append: <Snapshot extends object>(
      { accountId: id, interfaceName }: Pick<Caller, 'accountId' | 'interfaceName'>,
      event: EventDefinition<Snapshot>,
      snapshot: Required<NoInfer<Snapshot>>,
    ): Promise<void> =>
      harness.operator.store.transaction((transaction) =>
        appendEvent(harness.operator, transaction, { id, interfaceName }, event, snapshot),
      ),
  };
}
