// The rule does not know tests that are extended with fixtures.
/* oxlint-disable vitest/no-standalone-expect */
import { acknowledge, eventually, startReceiver } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

const insertEvents = `
  insert into outbox_event (account_id, interface, event_type, snapshot)
  select $1, 'partner', $2, $3 from generate_series(1, $4::int)`;

const created = { referral: { id: 'gid://service/Referral/1', status: 'OPEN', externalReference: null } };

test("a slow receiver's 2,000 due deliveries delay nobody else's", async ({ harness, receiver: slow }) => {
  const another = harness.accounts.otherPartner;
  const quick = await startReceiver();
  let now = 0;
  let most = 0;
  slow.onDelivery = (response, request) => {
    most = Math.max(most, (now += 1));
    setTimeout(() => {
      now -= 1;
      acknowledge(response, request);
    }, 2_000);
  };
  try {
    await harness.subscribe(slow.url, ['referral.created']);
    await harness.subscribe(quick.url, ['referral.declined']);
    await harness.subscribe(quick.url, ['referral.created'], another);
    await harness.sql(insertEvents, [harness.accounts.partner.accountId, 'referral.created', created, 2_000]);
    await harness.startWorker();
    await slow.waitFor(16);

    // At this rate the backlog would take four minutes.
    const startMs = performance.now();
    await harness.refer(5, another);
    await quick.waitFor(5);
    // Another subscription of the same account, too, though its event stands behind the others in the queue.
    await harness.sql(insertEvents, [
      harness.accounts.partner.accountId,
      'referral.declined',
      { ...created, declinedAt: '2026-11-20T08:00:00.000Z', reason: null },
      1,
    ]);
    await quick.waitFor(6);
    expect(performance.now() - startMs).toBeLessThan(20_000);
    expect(most).toBe(16);
    expect(slow.deliveries.length).toBeLessThan(500);
  } finally {
    slow.onDelivery = acknowledge;
    await quick.close();
  }
});

test('an event that does not fit is set aside with an alarm, and the others go on', async ({ harness, receiver }) => {
  await harness.subscribe(receiver.url, ['referral.created']);
  const { accountId } = harness.accounts.partner;
  await harness.refer(1);
  await harness.sql(insertEvents, [accountId, 'referral.created', {}, 1]);
  await harness.sql(insertEvents, [accountId, 'referral.created', { referral: { ...created.referral, id: 7 } }, 1]);
  await harness.refer(1);
  await harness.startWorker();
  await receiver.waitFor(2);
  await eventually(async () => {
    expect(await harness.deliveries()).toMatchObject([
      { status: 'DELIVERED', sequence: 2 },
      { status: 'DELIVERED', sequence: 1 },
    ]);
  });
  expect(
    await harness.sql('select fan_out_error from outbox_event where fan_out_failed_at is not null order by position'),
  ).toEqual([
    { fan_out_error: 'referral.created at 2026-11-01 cannot be rendered from its snapshot.' },
    { fan_out_error: expect.stringContaining('data.referralId: invalid_type') },
  ]);
});

test('an account that cannot be worked on does not hold up those after it', async ({ harness, receiver }) => {
  const another = harness.accounts.otherPartner;
  await harness.subscribe(receiver.url, ['referral.created']);
  await harness.subscribe(receiver.url, ['referral.created'], another);
  await harness.sql(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`);
  await harness.sql(`
    create trigger refuse before insert on webhook_delivery
    for each row when (new.account_id = ${harness.accounts.partner.accountId}) execute function refuse()`);
  await harness.refer(1);
  await harness.refer(3, another);
  await harness.startWorker();
  await receiver.waitFor(3);
  await harness.sql('drop trigger refuse on webhook_delivery');
  await receiver.waitFor(4);
});

test('what this build does not know stays queued with an alarm, and goes out once it is known', async ({
  harness,
  receiver,
}) => {
  const { accountId } = harness.accounts.partner;
  const { id } = await harness.subscribe(receiver.url, ['referral.created']);
  await harness.subscribe(receiver.url, ['referral.declined']);
  const pin = (version: string) =>
    harness.sql('update webhook_subscription_event_type set event_version = $1 where subscription_id = $2', [
      version,
      id.split('/').at(-1),
    ]);
  await pin('2099-01-01');
  await harness.sql(insertEvents, [accountId, 'referral.vanished', {}, 1]);
  await harness.refer(1);
  await harness.sql(insertEvents, [
    accountId,
    'referral.declined',
    { ...created, declinedAt: '2026-11-20T08:00:00.000Z', reason: null },
    1,
  ]);
  await harness.startWorker();
  await receiver.waitFor(1);
  expect(receiver.deliveries[0]?.headers['x-service-webhook-event']).toBe('referral.declined');
  await eventually(async () => expect(await harness.metrics()).toContain('deedwire_outbox_alarms{kind="unknown"} 2'));
  expect(
    await harness.sql('select event_type from outbox_event where fanned_out_at is null order by position'),
  ).toEqual([{ event_type: 'referral.vanished' }, { event_type: 'referral.created' }]);

  await pin('2026-11-01');
  await receiver.waitFor(2);
  expect(receiver.deliveries[1]?.headers['x-service-webhook-event']).toBe('referral.created');
});

test('a secret that cannot be read postpones its deliveries alone, and counts no attempt', async ({
  harness,
  receiver,
}) => {
  const { id } = await harness.subscribe(receiver.url, ['referral.created']);
  await harness.subscribe(receiver.url, ['referral.created']);
  await harness.sql(`update webhook_subscription set secret_ciphertext = 'x' where id = $1`, [id.split('/').at(-1)]);
  await harness.refer(1);
  await harness.startWorker();
  await eventually(async () => {
    const deliveries = await harness.deliveries();
    expect(deliveries.find(({ subscriptionId }) => subscriptionId === id)).toMatchObject({
      status: 'PENDING',
      attempts: [],
    });
    expect(deliveries.find(({ subscriptionId }) => subscriptionId !== id)).toMatchObject({ status: 'DELIVERED' });
    expect(
      await harness.sql(`select attempts from webhook_pending_delivery where due_at > now() + interval '10 seconds'`),
    ).toEqual([{ attempts: 0 }]);
  });
  expect(receiver.deliveries).toHaveLength(1);
});
