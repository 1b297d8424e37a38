import type { DevSeed } from '../dev-state.ts';
import type { ReceivedRequest, Receiver } from '../receiver.ts';
import type { System } from '../start-system.ts';
import { callGraphql } from './graphql-caller.ts';
import { expectEqual, expectThat, note, show, step, waitFor } from './narrator.ts';
import { runOperator } from './run-operator.ts';

export interface DemoWorld {
  system: System;
  /** As the owner. */
  databaseUrl: string;
  accounts: DevSeed;
  /** An open one of the partner. */
  referralId: string;
  receiver: Receiver;
  /** What the receiver verifies with. */
  webhookSecret: string;
}

// Bounds for a busy machine: the event comes within milliseconds.
const deliveryTimeoutMs = 15_000;
// The first retry is due 5 to 6 s after the failed attempt.
const retryTimeoutMs = 20_000;
// A worker settles in batches, every few milliseconds.
const settleTimeoutMs = 3_000;

const createSubscription =
  `mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) {
 webhookSubscription { id callbackUrl status eventTypes { type version } } webhookSecret userErrors { code message field } } }`.replaceAll(
    '\n',
    '',
  );

const readDelivery = `query ($id: ID!) { webhookDelivery(id: $id) { sequence status event { type version }
 attempts { number responseStatus durationMs error } } }`.replaceAll('\n', '');

/** The whole path, each step checked. Rejects at the first that is not as specified. */
export async function walk(world: DemoWorld): Promise<void> {
  const { system, accounts, referralId, receiver, webhookSecret } = world;
  const lenderUrl = `${system.apps['lender-api'].url}/lenders/graphql`;
  const partnerUrl = `${system.apps['partner-api'].url}/partners/graphql`;
  const partner = accounts.partner.credential;
  const readReferral = `{ referral(id: "${referralId}") { id status clientName matter { id reference } } }`;

  await step('A lender reads its organization', async () => {
    const query = '{ lender { name members { id firstName lastName email } } }';
    const { status, data } = await callGraphql(lenderUrl, accounts.lender.credential, query);
    expectEqual('status', status, 200);
    expectThat(
      'the lender has a name and members',
      /"name":"\w.*"members":\[\{"id":"gid:/.test(JSON.stringify(data['lender'])),
    );
  });

  await step('Its credentials are refused by the partner interface', async () => {
    const { status, errors } = await callGraphql(partnerUrl, accounts.lender.credential, '{ partner { name } }');
    expectEqual('status', status, 403);
    expectEqual('error code', errors[0]?.extensions.code, 'WRONG_INTERFACE');
  });

  await step('A partner reads a referral', async () => {
    const { data } = await callGraphql(partnerUrl, partner, readReferral);
    expectThat('it is open', JSON.stringify(data).includes('"status":"OPEN"'));
  });

  await step('The partner registers a callback URL and proves that it owns it', async () => {
    const input = {
      callbackUrl: receiver.url,
      eventTypes: [{ type: 'referral.converted', version: '2026-11-01' }],
      webhookSecret,
    };
    const answer = callGraphql(partnerUrl, partner, createSubscription, { input });
    const handshake = await Promise.race([receiver.nth(1), answer.then(() => null)]);
    expectThat('the callback URL is asked for proof before the mutation answers', handshake !== null);
    showReceived(handshake);
    const { data } = await answer;
    const payload = JSON.stringify(data['createWebhookSubscription']);
    expectThat('the subscription is active', payload.includes('"status":"ACTIVE"'));
    expectThat('there are no user errors', payload.includes('"userErrors":[]'));
  });

  const matterId = await step('The organization’s staff converts the referral into a matter', async () => {
    const converted = await runOperator(world.databaseUrl, 'referral', 'convert', referralId);
    expectEqual('referralId', converted['referralId'], referralId);
    return converted['matterId'];
  });

  const first = await step('The event arrives at once, and the receiver answers 503', async () => {
    const delivery = await waitFor('the event', deliveryTimeoutMs, receiver.nth(2));
    showReceived(delivery);
    expectEqual('answer', delivery.status, 503);
    const { type, version, data } = JSON.parse(delivery.body);
    expectEqual('event', [type, version], ['referral.converted', '2026-11-01']);
    expectEqual('its data', [data.referralId, data.matterId], [referralId, matterId]);
    return delivery;
  });

  await step('The same bytes come again, signed anew, and are acknowledged', async () => {
    const retry = await waitFor('the retry, due after 5 to 6 s', retryTimeoutMs, receiver.nth(3));
    showReceived(retry);
    expectEqual('body', retry.body, first.body);
    expectEqual('webhook-id', retry.headers['webhook-id'], first.headers['webhook-id']);
    expectEqual('X-Service-Webhook-Attempt', retry.headers['x-service-webhook-attempt'], '2');
    expectThat('it waited at least 5 s', retry.receivedAt.getTime() - first.receivedAt.getTime() >= 5_000);
  });

  await step('The partner sees both attempts', async () => {
    const id = String(first.headers['webhook-id']);
    const deadline = Date.now() + settleTimeoutMs;
    let delivery: string;
    do {
      const { data } = await callGraphql(partnerUrl, partner, readDelivery, { id });
      delivery = JSON.stringify(data['webhookDelivery']);
    } while (delivery.includes('"status":"PENDING"') && Date.now() < deadline);
    expectThat('it is delivered', delivery.includes('"status":"DELIVERED"'));
    expectThat('the first attempt was answered 503', delivery.includes('"number":1,"responseStatus":503'));
    expectThat('the second one 204', delivery.includes('"number":2,"responseStatus":204'));
  });

  await step('The referral is converted', async () => {
    const { data } = await callGraphql(partnerUrl, partner, readReferral);
    const referral = JSON.stringify(data['referral']);
    expectThat('it is converted', referral.includes('"status":"CONVERTED"'));
    expectThat('it names its matter', referral.includes(`"matter":{"id":"${String(matterId)}"`));
  });
}

/** @throws when its signature does not verify */
function showReceived({ headers, body, verification, status }: ReceivedRequest): void {
  show('←', 'POST to the callback URL', headers, body);
  if (verification instanceof Error) throw verification;
  note(`the signature verifies with @deedwire/webhook-signing, signed at ${verification.timestamp.toISOString()}`);
  note(`→ the receiver answers ${status}`);
}
