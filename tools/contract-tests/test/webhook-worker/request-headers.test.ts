import {
  createWebhookSubscription,
  findWebhookSubscription,
  sendTestWebhookEvent,
  updateWebhookSubscription,
} from '@deedwire/actions';
import type { Harness, TestAccount } from '@deedwire/dev-environment/firm-harness';
import { connect, eventually, missing, type ReceivedRequest, type Receiver, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect } from 'vitest';
import { test } from './firm-fixtures.ts';

const token = '4d9f0c62b7e1458a9c3a7f20d86b51e4';
const requestHeader = { name: 'Authorization', value: `Bearer ${token}` };

async function subscribe(shared: Harness, partner: TestAccount, { url }: Receiver): Promise<string> {
  const { webhookSubscription } = await createWebhookSubscription(shared.partnerApi, partner, {
    callbackUrl: url,
    eventTypes: [{ type: 'referral.created' }, { type: 'webhook.test' }],
    requestHeader,
  });
  return webhookSubscription?.id ?? missing();
}

const authorizations = (requests: readonly ReceivedRequest[]) => requests.map(({ headers }) => headers.authorization);
const stateOf = async (shared: Harness, partner: TestAccount, id: string) =>
  (await findWebhookSubscription(shared.partnerApi, partner, id))?.headerState;
const recordIdOf = (id: string): string => id.split('/').at(-1) ?? '';

test('is sent with handshake, delivery and test event, and what the receiver echoes of it is not kept', async ({
  shared,
  partner,
  receiver,
}) => {
  receiver.onDelivery = (response, { headers }) =>
    response.writeHead(500, { 'X-Echo': String(headers.authorization) }).end(`${JSON.stringify(headers)} ${token}`);
  const id = await subscribe(shared, partner, receiver);
  await shared.refer(1, partner);
  await sendTestWebhookEvent(shared.partnerApi, partner, { subscriptionId: id });
  const deliveries = await receiver.waitFor(2);
  expect(authorizations(receiver.handshakes)).toEqual([requestHeader.value]);
  expect(authorizations(deliveries.slice(0, 2))).toEqual([requestHeader.value, requestHeader.value]);
  const kept = await eventually(async () => {
    const rows = await shared.sql(
      `select request_headers, response_headers, convert_from(body, 'UTF8') as body from webhook_exchange
       where subscription_id = $1 order by started_at limit 2`,
      [recordIdOf(id)],
    );
    expect(rows).toHaveLength(2);
    return rows;
  });
  expect(JSON.stringify(kept)).not.toContain(token);
  for (const { request_headers: sent, response_headers: received, body } of kept) {
    expect(sent).toEqual(expect.arrayContaining(['authorization', '[the request header]']));
    expect(received).toEqual(expect.arrayContaining(['x-echo', '[the request header]']));
    expect(body).toContain('"authorization":"[the request header]"');
  }
});

test('is not quoted by the error of a handshake', async ({ shared, partner, receiver }) => {
  receiver.onHandshake = (response, { headers }) => response.writeHead(401).end(`No: ${headers.authorization}`);
  const { userErrors } = await createWebhookSubscription(shared.partnerApi, partner, {
    callbackUrl: receiver.url,
    eventTypes: [{ type: 'referral.created' }],
    requestHeader,
  });
  expect(userErrors).toMatchObject([{ code: 'VERIFICATION_STATUS' }]);
  expect(userErrors[0]?.message).not.toContain(token);
});

test('is sent as it is after each change', async ({ shared, partner, receiver }) => {
  const id = await subscribe(shared, partner, receiver);
  const changes = [{ name: 'X-Key', value: 'a' }, { name: 'X-Key', value: 'b' }, null];
  for (const [index, change] of changes.entries()) {
    await updateWebhookSubscription(shared.partnerApi, partner, { id, requestHeader: change });
    await shared.refer(1, partner);
    await receiver.waitFor(index + 1);
  }
  expect(receiver.deliveries.map(({ headers }) => [headers.authorization, headers['x-key']])).toEqual([
    [undefined, 'a'],
    [undefined, 'b'],
    [undefined, undefined],
  ]);
});

/** What an API of an earlier release, or a stolen login of the interface, can write. */
async function moveWithLogin(shared: Harness, partner: TestAccount, id: string, set: string): Promise<void> {
  const login = await forTest(connect(await shared.database.urlFor('partner_api')));
  await login.run(
    `with moved as (update webhook_subscription set url_number = url_number + 1, ${set} where id = $1 returning id)
     insert into webhook_event_queue (account_id, interface, subscription_id) select $2, 'partner', id from moved`,
    [recordIdOf(id), partner.accountId],
  );
}

test('does not reach another origin to which an earlier release or a stolen login moves the URL', async ({
  shared,
  partner,
  receiver,
}) => {
  const other = await forTest(startReceiver());
  const id = await subscribe(shared, partner, receiver);
  await moveWithLogin(shared, partner, id, `callback_url = '${other.url}'`);
  await shared.refer(1, partner);
  expect(authorizations(await other.waitFor(1))).toEqual([undefined]);
  expect(await stateOf(shared, partner, id)).toBe('DROPPED');
  // The bound is the origin, and not the path.
  await moveWithLogin(shared, partner, id, `callback_url = '${receiver.url}/elsewhere?a=b'`);
  await shared.refer(1, partner);
  expect(authorizations(await receiver.waitFor(1))).toEqual([requestHeader.value]);
  expect(await stateOf(shared, partner, id)).toBe('SENT');
});

test('does not reach it either if the login writes all columns, or those of another subscription', async ({
  shared,
  partner,
  receiver,
}) => {
  const other = await forTest(startReceiver());
  const id = await subscribe(shared, partner, receiver);
  const { origin } = new URL(other.url);
  await moveWithLogin(
    shared,
    partner,
    id,
    `callback_url = '${other.url}', request_header_origin = '${origin}', request_header_name = 'X-Key'`,
  );
  // A subscription of the attacker, to the same origin as that of the victim, with its ciphertext.
  const copy = await subscribe(shared, partner, receiver);
  await moveWithLogin(
    shared,
    partner,
    copy,
    `callback_url = '${receiver.url}/copy', request_header_ciphertext =
       (select request_header_ciphertext from webhook_subscription where id = ${recordIdOf(id)})`,
  );
  const marker = await subscribe(shared, partner, receiver);
  await shared.refer(2, partner);
  const deliveries = await receiver.waitFor(2);
  const subscriptions = deliveries.map(({ headers }) => headers['x-service-webhook-subscription-id']);
  expect(new Set(subscriptions)).toEqual(new Set([marker]));
  expect(other.requests).toEqual([]);
  expect(await shared.deliveries(partner)).toEqual(
    expect.arrayContaining([expect.objectContaining({ subscriptionId: id, status: 'PENDING', attempts: [] })]),
  );
});
