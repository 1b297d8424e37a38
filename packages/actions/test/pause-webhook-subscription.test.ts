import { beforeEach, describe, expect, test } from 'vitest';
import {
  findWebhookSubscription,
  pauseWebhookSubscription,
  resumeWebhookSubscription,
  updateWebhookSubscription,
} from '../src/index.ts';
import { interrupted } from './support/interrupted.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let id: string;

beforeEach(async () => {
  ({ id } = await world.subscribe());
  world.customerApi.sender.verified = [];
  await forgetChanges();
});

const pause = () => pauseWebhookSubscription(world.customerApi, world.customer, { id });
const resume = () => resumeWebhookSubscription(world.customerApi, world.customer, { id });
const read = () => findWebhookSubscription(world.customerApi, world.customer, id);
const url = 'https://receiver.example/hook';

/** The worker pauses the subscription, as it does for a reason that is stronger than that of the owner. */
const workerPauses = (reason: string) =>
  world.sql(
    `update webhook_subscription s set paused_reason = $1, paused_at = now(),
       owner_paused_at = case when s.paused_reason = 'OWNER' then s.owner_paused_at end`,
    [reason],
  );
async function forgetChanges(): Promise<void> {
  world.customerApi.notified = 0;
  await world.sql('delete from webhook_event_queue');
  await world.sql('truncate audit_entry');
}
const effects = async () => ({
  changes: (await world.sql('select from webhook_event_queue where subscription_id is not null')).length,
  notified: world.customerApi.notified,
  entries: (
    await world.sql(
      `select action, details from audit_entry where action like 'webhook_subscription.%' order by number`,
    )
  ).map(({ action, details }) => `${String(action)} ${JSON.stringify(details)}`),
});
const nothing = { changes: 0, notified: 0, entries: [] };
const urlNumber = async () => (await world.sql('select url_number as n from webhook_subscription'))[0]?.['n'];

test('pauses once, and tells the worker', async () => {
  const { webhookSubscription, userErrors } = await pause();
  expect(userErrors).toEqual([]);
  expect(webhookSubscription).toMatchObject({ status: 'PAUSED', pausedReason: 'OWNER', pausedAt: expect.any(Date) });
  expect(await effects()).toEqual({ changes: 1, notified: 1, entries: ['webhook_subscription.pause {}'] });
  await forgetChanges();
  expect(await pause()).toEqual({ webhookSubscription, userErrors: [] });
  expect(await effects()).toEqual(nothing);
});

test('resumes what its owner has paused without a handshake, once', async () => {
  await pause();
  await forgetChanges();
  const { webhookSubscription, userErrors } = await resume();
  expect(userErrors).toEqual([]);
  expect(webhookSubscription).toMatchObject({ status: 'ACTIVE', pausedReason: null, pausedAt: null });
  expect(await effects()).toEqual({
    changes: 1,
    notified: 1,
    entries: ['webhook_subscription.resume {"pausedReason":"OWNER"}'],
  });
  expect(await urlNumber()).toBe(2);
  await forgetChanges();
  expect(await resume()).toEqual({ webhookSubscription, userErrors: [] });
  expect(await effects()).toEqual(nothing);
  expect(world.customerApi.sender.verified).toEqual([]);
  expect(await pause()).toMatchObject({ webhookSubscription: { pausedReason: 'OWNER' } });
});

describe.each(['GONE', 'FAILING'])('after %s', (reason) => {
  test('resumes once the callback URL has passed the handshake', async () => {
    await workerPauses(reason);
    world.customerApi.sender.result = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: '410' });
    expect(await resume()).toEqual({
      webhookSubscription: null,
      userErrors: [{ code: 'VERIFICATION_STATUS', message: '410', field: ['input', 'id'] }],
    });
    expect(await read()).toMatchObject({ pausedReason: reason });
    expect(await effects()).toEqual(nothing);
    world.customerApi.sender.result = () => ({ verified: true });
    expect(await resume()).toMatchObject({ webhookSubscription: { status: 'ACTIVE' }, userErrors: [] });
    expect(world.customerApi.sender.verified.map((request) => request.url)).toEqual([url, url]);
    expect(await effects()).toMatchObject({ changes: 1, notified: 1 });
  });

  test('a pause of the owner stays beneath it, until the owner resumes', async () => {
    await workerPauses(reason);
    expect(await pause()).toMatchObject({ webhookSubscription: { pausedReason: reason } });
    const { webhookSubscription } = await updateWebhookSubscription(world.customerApi, world.customer, {
      id,
      callbackUrl: url,
    });
    expect(webhookSubscription).toMatchObject({ status: 'PAUSED', pausedReason: 'OWNER', pausedAt: expect.any(Date) });
    expect(await resume()).toMatchObject({ webhookSubscription: { status: 'ACTIVE' } });
  });

  test('that replaced the pause of the owner, the owner resumes both with one handshake', async () => {
    await pause();
    await workerPauses(reason);
    expect(await resume()).toMatchObject({ webhookSubscription: { status: 'ACTIVE' } });
    expect(world.customerApi.sender.verified).toHaveLength(1);
    // The worker pauses it again later, and the earlier pause of the owner does not return.
    await workerPauses(reason);
    expect(await updateWebhookSubscription(world.customerApi, world.customer, { id, callbackUrl: url })).toMatchObject({
      webhookSubscription: { status: 'ACTIVE' },
    });
  });

  test('verifies the URL that the subscription has when it is resumed', async () => {
    await workerPauses(reason);
    world.customerApi.sender.result = async ({ url: verified }) => {
      if (verified === url)
        await world.sql(`update webhook_subscription set callback_url = 'https://receiver.example/new'`);
      return { verified: true };
    };
    expect(await resume()).toMatchObject({
      webhookSubscription: { status: 'ACTIVE', callbackUrl: 'https://receiver.example/new' },
    });
    expect(world.customerApi.sender.verified.map((request) => request.url)).toEqual([
      url,
      'https://receiver.example/new',
    ]);
  });

  test('verifies if the receiver fails between reading and resuming', async () => {
    await pause();
    const store = interrupted(world.customerApi.store, () => workerPauses(reason));
    expect(await resumeWebhookSubscription({ ...world.customerApi, store }, world.customer, { id })).toMatchObject({
      webhookSubscription: { status: 'ACTIVE' },
    });
    expect(world.customerApi.sender.verified).toHaveLength(1);
  });
});

test('refuses to resume while a retired version is pinned, and keeps the pause of the owner beneath it', async () => {
  await pause();
  await workerPauses('VERSION_RETIRED');
  await world.sql(`update webhook_subscription_event_type set event_version = '2020-01-01'`);
  await forgetChanges();
  expect(await resume()).toEqual({
    webhookSubscription: null,
    userErrors: [
      {
        code: 'VERSION_RETIRED',
        message:
          'The subscription pins a retired event version. Pin another one with `updateWebhookSubscription`, which resumes it.',
        field: ['input', 'id'],
      },
    ],
  });
  expect(await effects()).toEqual(nothing);
  const repinned = await updateWebhookSubscription(world.customerApi, world.customer, {
    id,
    eventTypes: [{ type: 'order.placed', version: '2026-11-01' }],
  });
  expect(repinned.webhookSubscription).toMatchObject({ status: 'PAUSED', pausedReason: 'OWNER' });
  expect(await resume()).toMatchObject({ webhookSubscription: { status: 'ACTIVE' } });
});

test('the owner resumes what an operator has paused, without a handshake', async () => {
  const { operator, customerApi } = world;
  await pauseWebhookSubscription(operator, operator.operator, { id });
  expect(await pause()).toMatchObject({ webhookSubscription: { pausedReason: 'OPERATOR' } });
  expect(await resume()).toMatchObject({ webhookSubscription: { status: 'ACTIVE' }, userErrors: [] });
  expect(customerApi.sender.verified).toEqual([]);
});
