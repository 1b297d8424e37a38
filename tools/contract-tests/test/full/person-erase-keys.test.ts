import { readEventRecord } from '@deedwire/core';
import { eventually, missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { shipmentDelayed, shipmentSent, startShipping } from '../support/shipping.ts';
import { skipPauses } from '../support/skip-pauses.ts';

// The person of a record that an application keeps in one of its tables: only events name it, by a hash of its id.

skipPauses();
const t = await startShipping();
await t.startWorker();
const receiver = await forFile(startReceiver());
const { customer, otherCustomer } = t.accounts;
const uuid = '0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c';
const number = 'SO-2026/0001';
const recipient = 'ada@buyer.example';
const accepted = { exitCode: 0, stderr: '' };

type Account = typeof customer;

const hashOf = (id: string): string => readEventRecord(t.operator, 'Shipment', id)?.id ?? missing();

const erase = async (...options: string[]) => {
  const result = await t.operate('person', 'erase', ...options);
  // It advises to hide the address, and on a slow machine shows its progress.
  return { ...result, stderr: result.stderr.replaceAll(/^(?:Read|Vacuuming|Waiting|warning: The list of) .*\n/gm, '') };
};
const append = (account: Account, id: string, address: string | null = recipient) =>
  t.append(account, shipmentSent, { shipment: { id, recipient: address } });

/** Appends an event with any number of a record, as two ids with one hash would have it. */
const plant = (account: Account, recordId: string, snapshot: object) =>
  t.sql(
    `with event as (
       insert into webhook_event (account_id, interface, event_type, record_id, snapshot)
       values ($1, 'customer', 'shipment.sent', $2, $3) returning id, account_id, interface
     )
     insert into webhook_event_queue (account_id, interface, event_id) select account_id, interface, id from event`,
    [account.accountId, recordId, JSON.stringify(snapshot)],
  );

/** The records of which an event is kept, with the owner of their account. */
async function kept(): Promise<string[]> {
  const rows = await t.sql(
    `select account_id = $1::bigint as own, coalesce(snapshot #>> '{shipment,id}', snapshot ->> 'shipmentId') as record
     from webhook_event where snapshot::text <> '{}' order by id`,
    [customer.accountId],
  );
  return rows.map(({ own, record }) => `${own === true ? 'own' : 'other'} ${String(record)}`);
}

async function allPlanned(): Promise<void> {
  expect(await t.sql('select from webhook_event_queue')).toEqual([]);
}

beforeEach(async () => {
  await eventually(allPlanned);
  await t.sql('delete from webhook_event');
});

test('erases a record of one account, and keeps that of another account with the same id', async () => {
  await append(customer, number);
  await append(otherCustomer, number);
  const all = await erase('--record', `Shipment/${number}`, '--yes');
  expect(all).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('belongs to several accounts') });
  expect(await kept()).toEqual([`own ${number}`, `other ${number}`]);
  const own = ['--record', `Shipment/${number}`, '--account', customer.id];
  expect(await erase(...own, '--yes')).toMatchObject(accepted);
  expect(await kept()).toEqual([`other ${number}`]);
});

test('an erasure that was interrupted is finished, of this id and of this account only', async () => {
  const id = hashOf(number);
  for (const account of [customer, otherCustomer]) {
    await append(account, number);
    await plant(account, id, { shipment: { id: 'twin', recipient } });
  }
  await t.sql(`select begin_record_erasure('Shipment', $1, $2, $3, null)`, [id, otherCustomer.accountId, number]);
  await append(customer, uuid);
  const found = await erase('--record', `Shipment/${uuid}`, '--dry-run', '--json');
  expect(JSON.parse(found.stdout)).toMatchObject({
    unfinished: [{ recordId: 'gid://service/Shipment/SO-2026%2F0001', accountId: otherCustomer.id }],
  });
  expect(await erase('--record', `Shipment/${uuid}`, '--yes')).toMatchObject(accepted);
  expect(await kept()).toEqual([`own ${number}`, 'own twin', 'other twin']);
  expect(await t.sql('select from person_erasure')).toEqual([]);
});

test('an address finds the records all of whose events agree, and only lists the others', async () => {
  await append(customer, uuid);
  await t.append(customer, shipmentDelayed, { shipmentId: uuid, reason: 'Ada was not at home.' });
  await append(customer, number);
  await append(customer, number, 'bob@buyer.example');
  await append(customer, 'unknown', null);
  const found = await erase('--email', recipient.toUpperCase(), '--yes', '--json');
  expect(found.exitCode).toBe(0);
  expect(JSON.parse(found.stdout)).toMatchObject({
    records: [{ recordId: `gid://service/Shipment/${uuid}`, accountId: customer.id }],
    namedByEvents: [{ recordId: 'gid://service/Shipment/SO-2026%2F0001', accountId: customer.id }],
  });
  expect(await kept()).toEqual([`own ${number}`, `own ${number}`, 'own unknown']);
  expect(await erase('--record', number, '--yes')).toMatchObject(accepted);
  expect(await kept()).toEqual(['own unknown']);
});

test('an event whose record cannot be read is named and kept', async () => {
  await append(customer, number);
  await plant(customer, hashOf(number), { shipment: { recipient } });
  const erased = await erase('--record', number, '--yes', '--json');
  expect(erased.exitCode).toBe(0);
  expect(JSON.parse(erased.stdout)).toMatchObject({
    records: [{ recordId: 'gid://service/Shipment/SO-2026%2F0001' }],
    unreadable: [{ reason: expect.stringContaining('The event shipment.sent is about the Shipment undefined') }],
  });
  expect(await kept()).toEqual(['own null']);
});

test('erases all events of a record with a UUID, their deliveries, and nothing else', async () => {
  await t.subscribe(receiver.url, ['shipment.sent', 'shipment.delayed']);
  await append(customer, uuid);
  await t.append(customer, shipmentDelayed, { shipmentId: uuid.toUpperCase(), reason: 'Ada was not at home.' });
  await append(customer, number);
  // Another id with the same hash.
  await plant(customer, hashOf(uuid), { shipment: { id: 'twin', recipient: 'bob@buyer.example' } });
  await receiver.waitFor(4);
  await eventually(async () => expect(await t.sql('select from webhook_pending_delivery')).toEqual([]));

  const record = `gid://service/Shipment/${uuid}`;
  const found = await erase('--record', uuid, '--dry-run', '--json');
  expect(JSON.parse(found.stdout)).toMatchObject({
    records: [{ recordId: record, accountId: customer.id }],
    tables: expect.arrayContaining([
      { table: 'webhook_event', rows: 2 },
      { table: 'webhook_delivery', rows: 2 },
    ]),
    namedByEvents: [],
    unreadable: [],
  });
  expect(await erase('--record', record, '--yes')).toMatchObject(accepted);
  expect(await kept()).toEqual([`own ${number}`, 'own twin']);
  expect(
    await t.sql(
      `select d.erased_at is not null as erased, count(*)::int from webhook_delivery d group by 1 order by 1`,
    ),
  ).toEqual([
    { erased: false, count: 2 },
    { erased: true, count: 2 },
  ]);
  expect(await t.sql('select from webhook_payload')).toHaveLength(2);
  expect(await t.sql('select from person_erasure')).toEqual([]);
  expect(await erase('--record', record, '--yes')).toMatchObject({ ...accepted, stdout: 'Nothing is kept\n' });
  const audit = await t.operate('audit', 'list', '--json', '--since', '1h');
  expect(JSON.parse(audit.stdout)).toContainEqual(
    expect.objectContaining({ action: 'person.erase', subject: record, accountId: customer.id }),
  );
});
