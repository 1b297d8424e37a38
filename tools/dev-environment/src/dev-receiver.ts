import { postGraphql } from '@deedwire/testing';
import { CannotStartError } from './cannot-start-error.ts';
import type { DevCaller } from './dev-file.ts';
import type { DatabaseState } from './dev-state.ts';
import type { ReceivedRequest } from './receiver.ts';

/** The event types of the sample receiver, each with its pinned version. */
const eventTypes = ['referral.converted', 'referral.created', 'referral.declined'].map((type) => ({
  type,
  version: '2026-11-01',
}));

interface MutationPayload {
  webhookSubscription: { id: string } | null;
  userErrors: { message: string }[];
}

/**
 * Subscribes the sample receiver as the partner. The subscription of an earlier run is reused, because an account has
 * at most 20.
 *
 * @throws {CannotStartError} if the subscription is rejected
 */
export async function subscribeReceiver(
  partner: DevCaller,
  callbackUrl: string,
  state: Pick<DatabaseState, 'webhookSecret' | 'receiverSubscriptionId'>,
): Promise<string> {
  const { webhookSecret, receiverSubscriptionId: id } = state;
  const existing = id === null ? null : await readSubscription(partner, id);
  if (existing === null) return create(partner, { callbackUrl, eventTypes, webhookSecret });
  // A new callback URL makes the service repeat the handshake.
  if (existing.callbackUrl !== callbackUrl) await update(partner, { id: existing.id, callbackUrl });
  return existing.id;
}

async function readSubscription(partner: DevCaller, id: string): Promise<{ id: string; callbackUrl: string } | null> {
  const query = 'query ($id: ID!) { webhookSubscription(id: $id) { id callbackUrl } }';
  const { webhookSubscription } = await send<{ webhookSubscription: { id: string; callbackUrl: string } | null }>(
    partner,
    query,
    { id },
  );
  return webhookSubscription;
}

async function create(partner: DevCaller, input: object): Promise<string> {
  const query = `mutation ($input: CreateWebhookSubscriptionInput!) {
    createWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { message } }
  }`;
  const data = await send<{ createWebhookSubscription: MutationPayload }>(partner, query, { input });
  return subscriptionId(data.createWebhookSubscription);
}

async function update(partner: DevCaller, input: object): Promise<string> {
  const query = `mutation ($input: UpdateWebhookSubscriptionInput!) {
    updateWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { message } }
  }`;
  const data = await send<{ updateWebhookSubscription: MutationPayload }>(partner, query, { input });
  return subscriptionId(data.updateWebhookSubscription);
}

function subscriptionId({ webhookSubscription, userErrors }: MutationPayload): string {
  if (webhookSubscription !== null) return webhookSubscription.id;
  const problems = userErrors.map(({ message }) => message).join(' ');
  throw new CannotStartError(`The sample receiver cannot be subscribed: ${problems}`);
}

async function send<Data>(partner: DevCaller, query: string, variables: object): Promise<Data> {
  const headers = { 'X-Service-Schema-Version': '2026-11-01' };
  const { status, body } = await postGraphql<Data>(partner.url, partner, { query, variables, headers });
  if (body.data === undefined || body.data === null || body.errors !== undefined) {
    const problems = (body.errors ?? []).map(({ message }) => message).join(' ');
    throw new CannotStartError(`The sample receiver cannot be subscribed: HTTP ${status}. ${problems}`);
  }
  return body.data;
}

/** The lines that the terminal shows for a request to the sample receiver. */
export function describeRequest({ kind, headers, body, verification }: ReceivedRequest): string {
  if (verification instanceof Error) return `rejected a request: ${verification.message}`;
  if (kind === 'handshake') return 'answered the handshake; its signature verifies';
  const header = (name: string): string => String(headers[`x-service-webhook-${name}`]);
  const summary = `${header('event')} ${header('event-version')}, attempt ${header('attempt')}; its signature verifies`;
  return `${summary}\n${JSON.stringify(JSON.parse(body), null, 2)}`;
}
