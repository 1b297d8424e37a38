import { callOperator, createHarness, type OperatorResult } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { insertListener, insertSubscription } from '../support/stored-deliveries.ts';

const harness = await forFile(createHarness());
// The login is only in the group role `operator`, as in production.
const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
await insertSubscription(harness, 'customer', harness.accounts.customer);
const supplier = await insertListener(harness, 'supplier', harness.accounts.supplier);
const customer = await insertListener(harness, 'customer', harness.accounts.customer);

const operate = (...commandArguments: string[]): Promise<OperatorResult> =>
  callOperator(env, 'listener', ...commandArguments);

async function listed(...commandArguments: string[]): Promise<unknown[]> {
  const { exitCode, stdout, stderr } = await operate('list', ...commandArguments, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const rows: Record<string, unknown>[] = JSON.parse(stdout);
  return rows.map(({ id }) => id);
}

test('list shows the listeners of all accounts or of one, and no subscriptions', async () => {
  expect(await listed()).toEqual([customer, supplier]);
  expect(await listed('--account', harness.accounts.supplier.id)).toEqual([supplier]);
  expect((await operate('list', '--limit', '1')).stdout).not.toContain(supplier);
  expect(await listed('--after', customer)).toEqual([supplier]);
  expect((await operate('list', '--account', 'gid://service/Customer/1')).stderr).toBe(
    'error: The customer gid://service/Customer/1 does not exist.\n',
  );
  const { stdout } = await operate('list');
  const [head, row] = stdout.split('\n');
  expect(head?.split(/\s{2,}/)).toEqual(['listener', 'account', 'expires', 'event types', 'last sequence', 'created']);
  expect(row).toContain(`${customer}  ${harness.accounts.customer.id}`);
});

test('forbid refuses new listeners of an account until allow, and says what the account has', async () => {
  const account = harness.accounts.customer.id;
  const forbidden = await operate('forbid', account);
  expect(forbidden).toMatchObject({ exitCode: 0, stderr: '' });
  expect(forbidden.stdout).toMatch(
    new RegExp(
      `^The account ${account} may not create listeners since 20\\S+Z\\. It has 1, which stay until they expire\\. ` +
        'To delete one, run `deedwire-operator listener delete`; `listener list --account` lists them\\.\\n$',
    ),
  );
  // The time of the first command stays.
  expect((await operate('forbid', account)).stdout).toBe(forbidden.stdout);
  expect(await operate('allow', account)).toEqual({
    exitCode: 0,
    stdout: `The account ${account} may create listeners. It has 1.\n`,
    stderr: '',
  });
  expect(JSON.parse((await operate('forbid', harness.accounts.otherCustomer.id, '--json')).stdout)).toEqual({
    accountId: harness.accounts.otherCustomer.id,
    forbiddenAt: expect.stringMatching(/Z$/),
    listeners: 0,
  });
  expect(await operate('forbid', 'gid://service/Customer/1')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: The customer gid://service/Customer/1 does not exist.\n',
  });
});

test('delete deletes a listener once, and no subscription', async () => {
  expect(await operate('delete', supplier)).toEqual({
    exitCode: 0,
    stdout: `The listener ${supplier} is deleted\n`,
    stderr: '',
  });
  expect(await listed()).toEqual([customer]);
  expect(await operate('delete', supplier)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: The listener ${supplier} does not exist.\n`,
  });
  const { stdout } = await callOperator(env, 'audit', 'list', '--limit', '1', '--json');
  expect(JSON.parse(stdout)).toMatchObject([
    { actor: 'ada', action: 'webhook_listener.delete', subject: supplier, accountId: harness.accounts.supplier.id },
  ]);
  expect((await listed('--account', harness.accounts.supplier.id)).length).toBe(0);
  expect((await operate('list', '--account', harness.accounts.supplier.id)).stdout).toContain('No listeners match.');
});

test('commands for subscriptions and listeners accept the number of a listener', async () => {
  const number = String(customer.split('/').at(-1));
  await harness.sql(
    `insert into webhook_subscription_event_type values (${number}, 'customer', 'order.placed', '2026-11-01')`,
  );
  const sent = await callOperator(env, 'subscription', 'test', number, '--type', 'order.placed', '--json');
  expect(sent).toMatchObject({ exitCode: 0, stderr: '' });
  const audited = await callOperator(env, 'audit', 'list', '--limit', '1', '--json');
  expect(JSON.parse(audited.stdout)).toMatchObject([{ action: 'webhook_listener.test', subject: customer }]);
  const compared = await callOperator(env, 'subscription', 'reconcile', number, '--log', '/dev/null', '--json');
  expect(JSON.parse(compared.stdout)).toMatchObject({ subscriptionId: customer });
  expect((await callOperator(env, 'subscription', 'test', '1')).stderr).toBe(
    'error: The subscription 1 does not exist.\n',
  );
  for (const verb of ['show', 'pause'])
    expect(await callOperator(env, 'subscription', verb, number)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `error: ${number} is a listener; pass a subscription.\n`,
    });
});
