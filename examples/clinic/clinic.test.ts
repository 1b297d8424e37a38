import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '@deedwire/service/testing';
import { service } from './deedwire/service.ts';

test('a patient books an appointment and receives it at both versions', async (t) => {
  const { accounts, receiver, stop } = await startService(service, { app: import.meta.url });
  t.after(stop);
  await receiver.subscribe(['appointment.booked']);
  await receiver.subscribe([{ type: 'appointment.booked', version: '2027-02-01' }]);
  const { url, headers } = accounts.patient;
  const query = 'mutation ($input: BookAppointmentInput!) { bookAppointment(input: $input) { userErrors { code } } }';
  const input = { startsAt: new Date(Date.now() + 86_400_000).toISOString(), reason: 'Fever' };
  const body = JSON.stringify({ query, variables: { input } });
  await fetch(url, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body });
  const versions = (await receiver.waitFor(2)).map(({ version }) => version);
  assert.deepEqual(versions.toSorted(), ['2026-11-01', '2027-02-01']);
});
