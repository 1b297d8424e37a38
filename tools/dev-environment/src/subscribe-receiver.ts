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

/** A caller, and what the names of the service's own headers begin with. */
export interface Subscriber extends DevCaller {
  prefix: string;
}

interface EventPin {
  type: string;
  version: string;
}

/**
 * Subscribes the sample receiver to every event type of the caller's interface, at its newest version that is `CURRENT`, or else at
 * its newest. The subscription of an earlier run is reused, because an account has at most 20.
 *
 * @param earlierId the subscription of an earlier run; null if there is none
 * @returns the id of the subscription
 * @throws {CannotStartError} if the subscription is rejected
 */
export async function subscribeReceiver(
  caller: Subscriber,
  { callbackUrl, webhookSecret, earlierId }: { callbackUrl: string; webhookSecret: string; earlierId: string | null },
): Promise<string> {
  const { webhookEventTypes } = await send<{
    webhookEventTypes: { type: string; versions: { version: string; status: string }[] }[];
  }>(caller, '{ webhookEventTypes { type versions { version status } } }', {});
  const eventTypes = webhookEventTypes.flatMap(({ type, versions }): EventPin[] => {
    const pinned = versions.findLast(({ status }) => status === 'CURRENT') ?? versions.at(-1);
    return pinned === undefined ? [] : [{ type, version: pinned.version }];
  });
  const { webhookSubscription: earlier = null } = await (earlierId === null ? {} : readSubscription(caller, earlierId));
  if (earlier === null) return change(caller, 'create', { callbackUrl, eventTypes, webhookSecret });
  const { id } = earlier;
  if (earlier.callbackUrl !== callbackUrl || namesOf(earlier.eventTypes) !== namesOf(eventTypes))
    await change(caller, 'update', { id, callbackUrl, eventTypes });
  if (earlier.status !== 'ACTIVE') await change(caller, 'resume', { id });
  return id;
}

function namesOf(pins: readonly EventPin[]): string {
  const names = pins.map(({ type, version }) => `${type} ${version}`);
  return names.toSorted().join();
}

function readSubscription(caller: Subscriber, id: string) {
  const query =
    'query ($id: ID!) { webhookSubscription(id: $id) { id callbackUrl status eventTypes { type version } } }';
  return send<{
    webhookSubscription: { id: string; callbackUrl: string; status: string; eventTypes: EventPin[] } | null;
  }>(caller, query, { id });
}

/** @returns the id of the subscription */
async function change(caller: Subscriber, verb: 'create' | 'update' | 'resume', input: object): Promise<string> {
  const inputType = `${verb[0]?.toUpperCase()}${verb.slice(1)}WebhookSubscriptionInput!`;
  const query = `mutation ($input: ${inputType}) {
    payload: ${verb}WebhookSubscription(input: $input) { webhookSubscription { id } userErrors { message } }
  }`;
  const { payload } = await send<{
    payload: { webhookSubscription: { id: string } | null; userErrors: { message: string }[] };
  }>(caller, query, { input });
  if (payload.webhookSubscription !== null) return payload.webhookSubscription.id;
  throw rejected(payload.userErrors);
}

async function send<Data>(caller: Subscriber, query: string, variables: object): Promise<Data> {
  const { url, prefix } = caller;
  const { status, body } = await postGraphql<Data>(url, caller, { query, variables, prefix });
  if (body.data && !body.errors) return body.data;
  throw rejected([{ message: `HTTP ${status}.` }, ...(body.errors ?? [])]);
}

function rejected(problems: readonly { message: string }[]): CannotStartError {
  const messages = problems.map(({ message }) => message);
  return new CannotStartError(`The sample receiver cannot be subscribed: ${messages.join(' ')}`);
}

/**
 * Pauses the subscriptions that `pnpm dev --receiver` created, whose deliveries would fail while the receiver does not run.
 * `subscribeReceiver` resumes them.
 *
 * @returns whether one was active
 */
export async function pauseReceiver(context: OperatorContext, state: DatabaseState): Promise<boolean> {
  let isPaused = false;
  for (const id of Object.values(state.receiverSubscriptionIds)) {
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
