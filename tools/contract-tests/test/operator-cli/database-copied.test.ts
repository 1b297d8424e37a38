import { retryWebhookDelivery, sendTestWebhookEvent } from '@deedwire/actions';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { acknowledge, eventually, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { hashTables } from '../support/homes.ts';
import { startInterfaces } from '../support/interface-client.ts';

const recordsSentTo = ({ deliveries }: Receiver): unknown[] =>
  deliveries.map(({ body }) => JSON.parse(body.toString()).data.orderId);

test('nothing that waits in a closed copy is sent, clients of the original are refused, and new ones are served', async () => {
  const harness = await forTest(createHarness());
  const { accounts, sql } = harness;
  const real = await forTest(startReceiver());
  const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
  const copied = (...options: string[]) => callOperator(env, 'database', 'copied', ...options);

  const worker = await harness.startWorker();
  const subscription = await harness.subscribe(real.url, ['order.placed']);
  await harness.place(1);
  await real.waitFor(1);
  real.onDelivery = (response) => response.writeHead(503).end();
  await harness.place(1);
  await real.waitFor(2);
  await eventually(async () => {
    const rows = await sql('select from webhook_pending_delivery where attempts > 0');
    expect(rows).toHaveLength(1);
  });
  const [, delivered] = await harness.deliveries();
  const running = await copied('--yes');
  expect(running).toMatchObject({ exitCode: 1, stdout: '' });
  expect(running.stderr).toMatch(/^error: A process of webhook-worker is connected to this database\. /);
  await harness.stopWorker(worker);
  // A pooler keeps the connections of a process that has ended.
  const endSessionsOf = (login: string) =>
    sql(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and usename like $1`,
      [`%_${login}`],
    );
  await endSessionsOf('webhook_worker');

  // What the copy has: a pending delivery, a retry of a delivered one, an event and a test event in the queue, two keys, a link and an invite.
  await retryWebhookDelivery(harness.customerApi, accounts.customer, { id: delivered?.id ?? '' });
  await harness.place(1);
  await sendTestWebhookEvent(harness.customerApi, accounts.customer, {
    subscriptionId: subscription.id,
    eventType: 'order.placed',
  });
  for (const command of [
    ['portal', 'link'],
    ['credential', 'invite'],
  ])
    await callOperator(env, ...command, '--account', accounts.customer.id, '--origin', 'https://portal.example');
  expect((await copied('--dry-run')).stderr).toMatch(
    /^error: A process of the login \S+_customer_api is connected to /,
  );
  await endSessionsOf('customer_api');
  await sql(`insert into webhook_worker (name, leased_until) values ('original', now() + interval '1 hour')`);
  expect((await copied('--dry-run')).stderr).toMatch(/^error: A worker has a lease on this database until 20\S+Z\. /);
  await sql(`update webhook_worker set leased_until = now()`);
  expect(await copied()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('pass --dry-run') });

  const before = await hashTables(harness);
  const dryRun = await copied('--dry-run', '--json');
  expect(await hashTables(harness)).toEqual(before);
  const [{ keys } = {}] = await sql('select count(*)::int as keys from api_key');
  const open = {
    activeSubscriptions: 1,
    keys,
    portalSessions: 2,
    replays: 1,
    queuedEvents: 2,
    pendingDeliveries: 1,
  };
  expect(JSON.parse(dryRun.stdout)).toEqual({
    database: expect.stringMatching(/^127\.0\.0\.1:\d+\/\w+$/),
    ...open,
  });
  const closed = await copied('--yes');
  expect(closed).toMatchObject({ exitCode: 0, stderr: '' });
  expect(closed.stdout).toMatch(/^Closed 127\.0\.0\.1:\d+\/\w+\. It had:\nactive subscriptions +1\n/);
  const again = await copied('--yes', '--json');
  expect(Object.values(JSON.parse(again.stdout)).slice(1)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await sql(`select actor, subject, details from audit_entry where action = 'database.copied'`)).toEqual([
    { actor: 'ada', subject: 'database', details: open },
  ]);
  // The database writes one for each key and session, with the command.
  expect(
    await sql(
      `select count(*)::int as entries from audit_entry
       where details ->> 'command' = 'database.copied' and actor = 'ada' and transaction_id is not null`,
    ),
  ).toEqual([{ entries: Number(keys) + 2 }]);
  expect((await harness.deliveries()).map(({ status }) => status)).toEqual(['EXPIRED', 'DELIVERED']);

  // A client of the copy, with its own receiver.
  const received = real.deliveries.length;
  const { urls } = await startInterfaces(harness, ['customer']);
  const { status } = await postGraphql(urls.customer, accounts.customer.credential, { query: '{ __typename }' });
  expect(status).toBe(401);
  const issued = await callOperator(env, 'credential', 'issue', '--account', accounts.customer.id, '--json');
  const { status: ofNewKey } = await postGraphql(urls.customer, JSON.parse(issued.stdout), { query: '{ __typename }' });
  expect(ofNewKey).toBe(200);
  real.onDelivery = acknowledge;
  await harness.startWorker();
  const ofCopy = await forTest(startReceiver());
  await harness.subscribe(ofCopy.url, ['order.placed']);
  const [first] = await harness.place(1);
  await ofCopy.waitFor(1);
  expect(recordsSentTo(ofCopy)).toEqual([first]);
  expect(real.deliveries).toHaveLength(received);

  // A subscription that is resumed with its real URL gets later events, and none from before.
  expect(await callOperator(env, 'subscription', 'resume', subscription.id)).toMatchObject({ exitCode: 0 });
  const [second] = await harness.place(1);
  await real.waitFor(received + 2);
  expect(recordsSentTo(real).slice(received)).toEqual([first, second]);
  await eventually(async () => expect(await sql('select from webhook_pending_delivery')).toEqual([]));
  const retried = await callOperator(env, 'delivery', 'retry', delivered?.id ?? '');
  expect(retried).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('its payload is deleted') });
});
