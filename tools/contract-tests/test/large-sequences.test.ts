import { createHarness } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import { insertDelivery, insertSubscription } from './support/stored-deliveries.ts';

const largestInt = 2_147_483_647;
const largest = Number.MAX_SAFE_INTEGER;

const harness = await forFile(createHarness());
const t = await startInterfaces(harness);
const subscription = await insertSubscription(harness, 'supplier', harness.accounts.supplier);
const small = await insertDelivery(harness, subscription, { sequence: largestInt });
const large = await insertDelivery(harness, subscription, { sequence: largest });

/** `sequence` is an Int in the first version, and a Long in the second one. */
const { send: sendToInt } = createInterfaceClient(t, 'supplier', '2026-11-01');
const { send: sendToLong } = createInterfaceClient(t, 'supplier', '2027-02-01');
const operation = '{ webhookDeliveries(first: 1) { nodes { sequence } } }';

test('lists numbers above 2147483647 as sequenceNumber, and as sequence where it is a Long', async () => {
  const nodes = [
    { id: large.gid, sequenceNumber: largest },
    { id: small.gid, sequenceNumber: largestInt },
  ];
  for (const send of [sendToInt, sendToLong])
    expect(await send('{ webhookDeliveries(first: 2) { nodes { id sequenceNumber } } }')).toMatchObject({
      status: 200,
      body: { data: { webhookDeliveries: { nodes } } },
    });
  expect((await sendToLong(operation)).body.data).toEqual({ webhookDeliveries: { nodes: [{ sequence: largest }] } });
});

test('fails only operations that select sequence of such a delivery', async () => {
  const error = {
    message: `The sequence of this delivery is 9007199254740991, and \`sequence\` is at most 2147483647. Select \`sequenceNumber\` instead.`,
    extensions: { code: 'SEQUENCE_TOO_LARGE' },
  };
  expect(await sendToInt(operation)).toMatchObject({ status: 200, body: { data: null, errors: [error] } });
  const accept = 'application/graphql-response+json';
  expect(await sendToInt(operation, {}, { accept })).toMatchObject({ status: 400, body: { data: null } });
  const both = `{ a: webhookDelivery(id: "${large.gid}") { sequence } b: webhookDelivery(id: "${small.gid}") { sequence } }`;
  expect(await sendToInt(both)).toMatchObject({
    status: 200,
    body: { data: { a: null, b: { sequence: largestInt } }, errors: [{ ...error, path: ['a', 'sequence'] }] },
  });
});
