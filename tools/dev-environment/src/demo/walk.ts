import { eventually, postGraphql } from '@deedwire/testing';
import { callOperator } from '../call-operator.ts';
import type { DevSeed } from '../dev-state.ts';
import type { System } from '../start-system.ts';
import type { DemoRequest, DemoReceiver } from './demo-receiver.ts';
import { callGraphql } from './graphql-caller.ts';
import { layoutJson } from './layout.ts';
import { bodyWidth, expectEqual, expectThat, note, show, step, waitFor } from './narrator.ts';
import type { RequestRecorder } from './request-recorder.ts';

export interface DemoWorld {
  system: System;
  /** URL with the login of the database owner. */
  databaseUrl: string;
  accounts: DevSeed;
  /** An open referral of the partner. */
  referralId: string;
  receiver: DemoReceiver;
  /** The requests to the receiver. */
  received: RequestRecorder;
  /** The receiver verifies requests with this secret. */
  webhookSecret: string;
}

// Long enough for a busy machine. On an idle one the webhook arrives within milliseconds.
const deliveryTimeoutMs = 15_000;
// The first retry is due 5 to 6 s after the failed attempt.
const retryTimeoutMs = 20_000;
// The worker records attempts in batches, every few milliseconds on an idle machine.
const settleTimeoutMs = 15_000;

/** Headers that HTTP needs, which say nothing about the webhook. */
const transportHeaders = new Set([
  'host',
  'connection',
  'content-type',
  'content-length',
  'accept-encoding',
  'user-agent',
]);

const createSubscription = `mutation ($input: CreateWebhookSubscriptionInput!) {
  createWebhookSubscription(input: $input) {
    webhookSubscription { id status eventTypes { type version } }
    userErrors { code message field }
  }
}`;

const readReferral = 'query ($id: ID!) { referral(id: $id) { status matter { id reference } } }';

const readDelivery = `query ($id: ID!) {
  webhookDelivery(id: $id) {
    sequence status
    attempts { number responseStatus durationMs error }
  }
}`;

/**
 * Runs the whole flow and checks each step.
 *
 * @throws {Error} if a step fails; its cause is a DeviationError if the system behaves differently than specified
 */
export async function walk(world: DemoWorld): Promise<void> {
  const { system, accounts, referralId, receiver, received, webhookSecret } = world;
  const lenderUrl = `${system.apps['lender-api'].url}/lenders/graphql`;
  const partnerUrl = `${system.apps['partner-api'].url}/partners/graphql`;
  const partner = accounts.partner.credential;

  await step('A lender reads its name and its team members', async () => {
    const query = '{ lender { name members { id firstName } } }';
    const { status, data } = await callGraphql(lenderUrl, accounts.lender.credential, query);
    expectEqual('status', status, 200);
    expectThat(
      'the lender has a name and members',
      /"name":"\w.*"members":\[\{"id":"gid:/.test(JSON.stringify(data['lender'])),
    );
  });

  await step('The partner interface rejects the credentials of the lender', async () => {
    const { status, errors } = await callGraphql(partnerUrl, accounts.lender.credential, '{ partner { name } }');
    expectEqual('status', status, 403);
    expectEqual('error code', errors[0]?.extensions.code, 'WRONG_INTERFACE');
  });

  await step('A partner reads a referral', async () => {
    const { data } = await callGraphql(partnerUrl, partner, readReferral, { id: referralId });
    expectThat('the referral is open', JSON.stringify(data).includes('"status":"OPEN"'));
  });

  await step('The partner registers a callback URL and answers the handshake', async () => {
    const input = {
      callbackUrl: receiver.url,
      eventTypes: [{ type: 'referral.converted', version: '2026-11-01' }],
      webhookSecret,
    };
    const response = callGraphql(partnerUrl, partner, createSubscription, { input });
    const handshake = await Promise.race([received.nth(1), response.then(() => null)]);
    expectThat('the callback URL receives the handshake before the mutation returns', handshake !== null);
    showReceived(handshake);
    const { data } = await response;
    const payload = JSON.stringify(data['createWebhookSubscription']);
    expectThat('the subscription is active', payload.includes('"status":"ACTIVE"'));
    expectThat('there are no user errors', payload.includes('"userErrors":[]'));
  });

  const matterId = await step('An operator converts the referral into a matter', async () => {
    const converted = await operate(world.databaseUrl, 'referral', 'convert', referralId);
    expectEqual('referralId', converted['referralId'], referralId);
    return converted['matterId'];
  });

  const first = await step('The webhook arrives, and the receiver responds 503', async () => {
    const delivery = await waitFor('the webhook', deliveryTimeoutMs, received.nth(2));
    showReceived(delivery);
    expectEqual('response', delivery.status, 503);
    const { type, version, data } = JSON.parse(delivery.body);
    expectEqual('event', [type, version], ['referral.converted', '2026-11-01']);
    expectEqual('event data', [data.referralId, data.matterId], [referralId, matterId]);
    return delivery;
  });

  await step('The worker retries: the same body with a new signature, and the receiver responds 204', async () => {
    const retry = await waitFor('the retry, due after 5 to 6 s', retryTimeoutMs, received.nth(3));
    showReceived(retry, first);
    expectEqual('body', retry.body, first.body);
    expectEqual('webhook-id', retry.headers['webhook-id'], first.headers['webhook-id']);
    expectEqual('X-Service-Webhook-Attempt', retry.headers['x-service-webhook-attempt'], '2');
    expectThat('the worker waited at least 5 s', retry.receivedAt.getTime() - first.receivedAt.getTime() >= 5_000);
  });

  await step('The partner reads the delivery and both attempts', async () => {
    const id = String(first.headers['webhook-id']);
    // The worker records the attempt after the receiver has responded.
    await eventually(async () => {
      const { body } = await postGraphql(partnerUrl, partner, { query: readDelivery, variables: { id } });
      expectThat('the attempt is recorded', !JSON.stringify(body).includes('"status":"PENDING"'));
    }, settleTimeoutMs);
    const { data } = await callGraphql(partnerUrl, partner, readDelivery, { id });
    const delivery = JSON.stringify(data['webhookDelivery']);
    expectThat('the delivery is delivered', delivery.includes('"status":"DELIVERED"'));
    expectThat('the response to the first attempt was 503', delivery.includes('"number":1,"responseStatus":503'));
    expectThat('the response to the second attempt was 204', delivery.includes('"number":2,"responseStatus":204'));
  });

  await step('The partner reads the converted referral', async () => {
    const { data } = await callGraphql(partnerUrl, partner, readReferral, { id: referralId });
    const referral = JSON.stringify(data['referral']);
    expectThat('the referral is converted', referral.includes('"status":"CONVERTED"'));
    expectThat('the referral has a matter', referral.includes(`"matter":{"id":"${String(matterId)}"`));
  });
}

/** @throws {Error} if the command fails */
async function operate(databaseUrl: string, ...commandArguments: string[]): Promise<Record<string, unknown>> {
  show('→', `deedwire-operator ${commandArguments.join(' ')} --json`, {}, []);
  const { exitCode, stdout, stderr } = await callOperator({ DATABASE_URL: databaseUrl }, ...commandArguments, '--json');
  if (exitCode !== 0) throw new Error(stderr);
  show('←', `exit code ${exitCode}`, {}, layoutJson(stdout.trim(), bodyWidth()));
  return JSON.parse(stdout);
}

/**
 * Prints a request. With an earlier attempt, prints only what differs from it.
 *
 * @throws {Error} if the signature does not verify
 */
function showReceived({ headers, body, verification, status }: DemoRequest, earlier?: DemoRequest): void {
  const shownHeaders = Object.entries(headers).filter(
    ([name, value]) => !transportHeaders.has(name) && value !== earlier?.headers[name],
  );
  const shownBody =
    body === earlier?.body
      ? ['the same body and other headers as in the first attempt']
      : layoutJson(body, bodyWidth());
  show('←', 'POST to the callback URL', Object.fromEntries(shownHeaders), shownBody);
  if (verification instanceof Error) throw verification;
  note(`the signature verifies with @deedwire/webhook-signing, signed at ${verification.timestamp.toISOString()}`);
  note(`→ the receiver responds ${status}`);
}
