import {
  createWebhookSubscription,
  findWebhookSubscription,
  sendTestWebhookEvent,
  updateWebhookSubscription,
} from '@deedwire/actions';
import type { Harness, TestAccount } from '@deedwire/dev-environment/harness';
import { connect, eventually, missing, type ReceivedRequest, type Receiver, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

const token = '4d9f0c62b7e1458a9c3a7f20d86b51e4';
const requestHeader = { name: 'Authorization', value: `Bearer ${token}` };

async function subscribe(shared: Harness, customer: TestAccount, { url }: Receiver): Promise<string> {
  const { webhookSubscription } = await createWebhookSubscription(shared.customerApi, customer, {
    callbackUrl: url,
    eventTypes: [{ type: 'order.placed' }, { type: 'webhook.test' }],
    requestHeader,
  });
  return webhookSubscription?.id ?? missing();
}

const authorizations = (requests: readonly ReceivedRequest[]) => requests.map(({ headers }) => headers.authorization);
const stateOf = async (shared: Harness, customer: TestAccount, id: string) =>
  (await findWebhookSubscription(shared.customerApi, customer, id))?.headerState;
const recordIdOf = (id: string): string => id.split('/').at(-1) ?? '';

test('is sent with handshake, delivery and test event, and what the receiver echoes of it is not kept', async ({
  shared,
  customer,
  receiver,
}) => {
  receiver.onDelivery = (response, { headers }) =>
    response.writeHead(500, { 'X-Echo': String(headers.authorization) }).end(`${JSON.stringify(headers)} ${token}`);
  const id = await subscribe(shared, customer, receiver);
  await shared.place(1, customer);
  await sendTestWebhookEvent(shared.customerApi, customer, { subscriptionId: id });
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

test('is not quoted by the error of a handshake', async ({ shared, customer, receiver }) => {
  receiver.onHandshake = (response, { headers }) => response.writeHead(401).end(`No: ${headers.authorization}`);
  const { userErrors } = await createWebhookSubscription(shared.customerApi, customer, {
    callbackUrl: receiver.url,
    eventTypes: [{ type: 'order.placed' }],
    requestHeader,
  });
  expect(userErrors).toMatchObject([{ code: 'VERIFICATION_STATUS' }]);
  expect(userErrors[0]?.message).not.toContain(token);
});

test('is sent as it is after each change', async ({ shared, customer, receiver }) => {
  const id = await subscribe(shared, customer, receiver);
  const changes = [{ name: 'X-Key', value: 'a' }, { name: 'X-Key', value: 'b' }, null];
  for (const [index, change] of changes.entries()) {
    await updateWebhookSubscription(shared.customerApi, customer, { id, requestHeader: change });
    await shared.place(1, customer);
    await receiver.waitFor(index + 1);
  }
  expect(receiver.deliveries.map(({ headers }) => [headers.authorization, headers['x-key']])).toEqual([
    [undefined, 'a'],
    [undefined, 'b'],
    [undefined, undefined],
  ]);
});

/** What an API of an earlier release, or a stolen login of the interface, can write. */
async function moveWithLogin(shared: Harness, customer: TestAccount, id: string, set: string): Promise<void> {
  const login = await forTest(connect(await shared.database.urlFor('customer_api')));
  await login.run(
    `with moved as (update webhook_subscription set url_number = url_number + 1, ${set} where id = $1 returning id)
     insert into webhook_event_queue (account_id, interface, subscription_id) select $2, 'customer', id from moved`,
    [recordIdOf(id), customer.accountId],
  );
}

test('does not reach another origin to which an earlier release or a stolen login moves the URL', async ({
  shared,
  customer,
  receiver,
}) => {
  const other = await forTest(startReceiver());
  const id = await subscribe(shared, customer, receiver);
  await moveWithLogin(shared, customer, id, `callback_url = '${other.url}'`);
  await shared.place(1, customer);
  expect(authorizations(await other.waitFor(1))).toEqual([undefined]);
  expect(await stateOf(shared, customer, id)).toBe('DROPPED');
  // The bound is the origin, and not the path.
  await moveWithLogin(shared, customer, id, `callback_url = '${receiver.url}/elsewhere?a=b'`);
  await shared.place(1, customer);
  expect(authorizations(await receiver.waitFor(1))).toEqual([requestHeader.value]);
  expect(await stateOf(shared, customer, id)).toBe('SENT');
});

test('does not reach it either if the login writes all columns, or those of another subscription', async ({
  shared,
  customer,
  receiver,
}) => {
  const other = await forTest(startReceiver());
  const id = await subscribe(shared, customer, receiver);
  const { origin } = new URL(other.url);
  await moveWithLogin(
    shared,
    customer,
    id,
    `callback_url = '${other.url}', request_header_origin = '${origin}', request_header_name = 'X-Key'`,
  );
  // A subscription of the attacker, to the same origin as that of the victim, with its ciphertext.
  const copy = await subscribe(shared, customer, receiver);
  await moveWithLogin(
    shared,
    customer,
    copy,
    `callback_url = '${receiver.url}/copy', request_header_ciphertext =
       (select request_header_ciphertext from webhook_subscription where id = ${recordIdOf(id)})`,
  );
  const marker = await subscribe(shared, customer, receiver);
  await shared.place(2, customer);
  const deliveries = await receiver.waitFor(2);
  const subscriptions = deliveries.map(({ headers }) => headers['x-service-webhook-subscription-id']);
  expect(new Set(subscriptions)).toEqual(new Set([marker]));
  expect(other.requests).toEqual([]);
  expect(await shared.deliveries(customer)).toEqual(
    expect.arrayContaining([expect.objectContaining({ subscriptionId: id, status: 'PENDING', attempts: [] })]),
  );
});
