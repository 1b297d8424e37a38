import {
  type OperatorContext,
  pauseWebhookSubscription,
  readWebhookSubscription,
  RefusedError,
} from '@deedwire/actions';
import { CannotStartError } from './cannot-start-error.ts';
import type { DatabaseState } from './dev-state.ts';

/** An account that subscribes by its interface. */
export interface Subscriber {
  /** URL of the GraphQL endpoint. */
  url: string;
  /** With its credential. */
  headers: Readonly<Record<string, string>>;
}

interface EventPin {
  type: string;
  version: string;
}

/** An event type, at its newest version that is `CURRENT`, or else at its newest; or at the version that is named. */
export type WantedEvent = string | { readonly type: string; readonly version: string };

/**
 * Subscribes a receiver to event types of the caller's interface. The subscription of an earlier run is reused, because an account has at most 20.
 *
 * @param options `earlierId` is the subscription of an earlier run; null if there is none. `wanted` defaults to all event types
 * @returns the id of the subscription
 * @throws {CannotStartError} if the subscription is rejected
 */
export async function subscribeReceiver(
  caller: Subscriber,
  {
    callbackUrl,
    webhookSecret,
    earlierId,
    wanted,
  }: { callbackUrl: string; webhookSecret: string; earlierId: string | null; wanted?: readonly WantedEvent[] },
): Promise<string> {
  const { webhookEventTypes } = await send<{
    webhookEventTypes: { type: string; versions: { version: string; status: string }[] }[];
  }>(caller, '{ webhookEventTypes { type versions { version status } } }', {});
  const newest = new Map(
    webhookEventTypes.map(({ type, versions }) => [
      type,
      (versions.findLast(({ status }) => status === 'CURRENT') ?? versions.at(-1))?.version,
    ]),
  );
  const pins = (wanted ?? [...newest.keys()]).map((each) =>
    typeof each === 'string' ? { type: each, version: newest.get(each) } : each,
  );
  const missing = pins.filter(({ type }) => !newest.has(type)).map(({ type }) => type);
  if (missing.length > 0) throw rejected([{ message: `There is no event type ${missing.join(', ')}.` }]);
  const eventTypes = pins.flatMap(({ type, version }): EventPin[] =>
    version === undefined ? [] : [{ type, version }],
  );
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

async function send<Data>({ url, headers }: Subscriber, query: string, variables: object): Promise<Data> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  const body: { data?: Data | null; errors?: { message: string }[] } = JSON.parse(await response.text());
  if (body.data && !body.errors) return body.data;
  throw rejected([{ message: `HTTP ${response.status}.` }, ...(body.errors ?? [])]);
}

function rejected(problems: readonly { message: string }[]): CannotStartError {
  const messages = problems.map(({ message }) => message);
  return new CannotStartError(`The receiver cannot be subscribed: ${messages.join(' ')}`);
}

/**
 * Pauses the subscriptions of the receiver, whose deliveries would fail while the receiver does not run.
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
