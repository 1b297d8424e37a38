import {
  type OperatorContext,
  pauseWebhookSubscription,
  readWebhookSubscription,
  RefusedError,
} from '@deedwire/actions';
import { postGraphql } from '@deedwire/testing';
import { CannotStartError } from './command-line.ts';
import type { DevCaller } from './dev-file.ts';
import type { DatabaseState } from './dev-state.ts';

interface EventPin {
  type: string;
  version: string;
}

interface Subscription {
  id: string;
  callbackUrl: string;
  status: string;
  eventTypes: EventPin[];
}

interface MutationPayload {
  webhookSubscription: { id: string } | null;
  userErrors: { message: string }[];
}

/**
 * Subscribes the sample receiver to every event type of the caller's interface. The subscription of an earlier run is reused,
 * because an account has at most 20.
 *
 * @param earlierId the subscription of an earlier run; null if there is none
 * @returns the id of the subscription
 * @throws {CannotStartError} if the subscription is rejected
 */
export async function subscribeReceiver(
  caller: DevCaller,
  { callbackUrl, webhookSecret, earlierId }: { callbackUrl: string; webhookSecret: string; earlierId: string | null },
): Promise<string> {
  const eventTypes = await readPins(caller);
  const earlier = earlierId === null ? null : await readSubscription(caller, earlierId);
  if (earlier === null) return change(caller, 'create', { callbackUrl, eventTypes, webhookSecret });
  if (earlier.callbackUrl !== callbackUrl) await change(caller, 'update', { id: earlier.id, callbackUrl });
  if (!isSame(earlier.eventTypes, eventTypes)) await change(caller, 'update', { id: earlier.id, eventTypes });
  if (earlier.status !== 'ACTIVE') await change(caller, 'resume', { id: earlier.id });
  return earlier.id;
}

/** Every event type that the caller can subscribe to, at its newest version that is `CURRENT`, or else at its newest. */
async function readPins(caller: DevCaller): Promise<EventPin[]> {
  const query = '{ webhookEventTypes { type versions { version status } } }';
  const { webhookEventTypes } = await send<{
    webhookEventTypes: { type: string; versions: { version: string; status: string }[] }[];
  }>(caller, query, {});
  return webhookEventTypes.flatMap(({ type, versions }) => {
    const pinned = versions.findLast(({ status }) => status === 'CURRENT') ?? versions.at(-1);
    return pinned === undefined ? [] : [{ type, version: pinned.version }];
  });
}

function isSame(found: readonly EventPin[], wanted: readonly EventPin[]): boolean {
  const names = (pins: readonly EventPin[]): string =>
    pins
      .map(({ type, version }) => `${type} ${version}`)
      .toSorted()
      .join();
  return names(found) === names(wanted);
}

async function readSubscription(caller: DevCaller, id: string): Promise<Subscription | null> {
  const query =
    'query ($id: ID!) { webhookSubscription(id: $id) { id callbackUrl status eventTypes { type version } } }';
  const { webhookSubscription } = await send<{ webhookSubscription: Subscription | null }>(caller, query, { id });
  return webhookSubscription;
}

/** @returns the id of the subscription */
async function change(caller: DevCaller, verb: 'create' | 'update' | 'resume', input: object): Promise<string> {
  const inputType = `${verb[0]?.toUpperCase()}${verb.slice(1)}WebhookSubscriptionInput!`;
  const query = `mutation ($input: ${inputType}) {
    payload: ${verb}WebhookSubscription(input: $input) { webhookSubscription { id } userErrors { message } }
  }`;
  const { payload } = await send<{ payload: MutationPayload }>(caller, query, { input });
  return subscriptionId(payload);
}

function subscriptionId({ webhookSubscription, userErrors }: MutationPayload): string {
  if (webhookSubscription !== null) return webhookSubscription.id;
  const problems = userErrors.map(({ message }) => message).join(' ');
  throw new CannotStartError(`The sample receiver cannot be subscribed: ${problems}`);
}

async function send<Data>(caller: DevCaller, query: string, variables: object): Promise<Data> {
  const headers = { 'X-Service-Schema-Version': '2026-11-01' };
  const { status, body } = await postGraphql<Data>(caller.url, caller, { query, variables, headers });
  if (body.data === undefined || body.data === null || body.errors !== undefined) {
    const problems = (body.errors ?? []).map(({ message }) => message).join(' ');
    throw new CannotStartError(`The sample receiver cannot be subscribed: HTTP ${status}. ${problems}`);
  }
  return body.data;
}

/**
 * Pauses the subscriptions that `pnpm dev --receiver` created, whose deliveries would fail while the receiver does not run.
 * `subscribeReceiver` resumes them.
 *
 * @returns whether one was active
 */
export async function pauseReceiver(context: OperatorContext, state: DatabaseState): Promise<boolean> {
  let isPaused = false;
  for (const id of [state.receiverSubscriptionId, state.lenderReceiverSubscriptionId]) {
    if (id === null) continue;
    try {
      const { status } = await readWebhookSubscription(context, { subscriptionId: id });
      if (status === 'PAUSED') continue;
      await pauseWebhookSubscription(context, context.operator, { id });
      isPaused = true;
    } catch (error) {
      // Somebody has deleted it.
      if (!(error instanceof RefusedError)) throw error;
    }
  }
  return isPaused;
}
