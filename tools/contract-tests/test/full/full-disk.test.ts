import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { startPostgres } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { mountSmallDisk } from '../support/faults/small-disk.ts';
import { createInterfaceClient } from '../support/interface-client.ts';

test('a full disk raises an alarm, is found by `database check`, and needs no restart', async ({ skip }) => {
  const disk = await mountSmallDisk(128);
  if (disk === null) return skip('A small file system cannot be mounted here: that needs root on Linux.');
  const server = await startPostgres();
  const other = await connect(server.url.replace(/postgres$/, 'template1'));
  await other.run(`create tablespace small location '${disk.tablespace}'`);
  await other.run(`alter database postgres set tablespace small`);
  await other.close();
  const harness = await createHarness(server);
  onTestFinished(async () => {
    await harness.close();
    await disk.close();
  });
  const env = { DATABASE_URL: await harness.database.urlFor('operator') };
  const check = () => callOperator(env, 'database', 'check');
  const api = await harness.startApi('customer');
  await api.whenReady;
  const metrics = async () => (await fetch(`${api.adminUrl}/metrics`)).text();
  const customer = createInterfaceClient(
    { accounts: harness.accounts, urls: { supplier: '', customer: `${api.url}/customer/graphql` } },
    'customer',
    '2026-11-01',
  );
  const place = async () => {
    const { status } = await customer.send(
      `mutation { placeOrder(input: { item: "${'x'.repeat(90)}" }) { order { id } } }`,
    );
    return status;
  };
  const alarm = /^deedwire_alarms_total\{alarm="database-exhausted".*\} (\d+)$/m;

  expect(await place()).toBe(200);
  expect(await check()).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('not tried') });
  expect(await metrics()).not.toMatch(alarm);

  await disk.fill();
  let status = 200;
  // What free space pages have is used first.
  for (let count = 0; status === 200 && count < 5_000; count += 1) status = await place();
  expect(status).toBe(503);
  for (let count = 0; count < 10; count += 1) await place();
  // Once, although further requests failed.
  expect(alarm.exec(await metrics())?.[1]).toBe('1');
  const full = await check();
  expect(full.exitCode).toBe(1);
  expect(full.stderr).toMatch(
    /^error: The database cannot grow by 8 MB: .*No space left on device \(53100\); see docs\/operations\/runbooks\.md#the-disk-of-postgresql-is-full$/m,
  );

  await disk.free();
  expect(await place()).toBe(200);
  expect(await check()).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('not tried') });

  await harness.sql(`alter database postgres set default_transaction_read_only = on`);
  expect(await check()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^not tried: whether the database can grow, because the database has other problems\.$/m,
    ),
  });
});
