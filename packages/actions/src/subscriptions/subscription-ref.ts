import { formatGid, parseGid, parseRecordId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { type EventTypePin, type ListenerId, type SubscriptionId, subscriptionIdOf } from '@deedwire/webhooks/tables';
import { type ActionContext, type Caller, isCaller, type Operator } from '../kernel/context.ts';
import { noSuchSubscription, RefusedError } from '../kernel/errors.ts';
import { selectListener } from '../webhooks/subscriptions/listeners.ts';
import {
  selectSubscription,
  selectSubscriptionOwner,
  type SubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';

/** Names a subscription, or a listener. A listener is stored as a subscription that is never sent. */
export type SubscriptionRef =
  | { isListener: false; subscriptionId: SubscriptionId }
  | { isListener: true; subscriptionId: SubscriptionId; listenerId: ListenerId };

/** Null if the text is the global identifier of neither. */
export function parseSubscriptionRef(gidNamespace: string, gid: string): SubscriptionRef | null {
  const subscriptionId = parseGid(gidNamespace, 'WebhookSubscription', gid);
  if (subscriptionId !== null) return { isListener: false, subscriptionId };
  const listenerId = parseGid(gidNamespace, 'WebhookListener', gid);
  return listenerId === null ? null : { isListener: true, subscriptionId: subscriptionIdOf(listenerId), listenerId };
}

/** The event types of a subscription or listener. Null if the account has none with this identifier. */
export async function selectSubscribedTypes(
  database: Database,
  accountId: SubscriptionOwner['accountId'],
  ref: SubscriptionRef,
): Promise<EventTypePin[] | null> {
  const row = ref.isListener
    ? await selectListener(database, accountId, ref.listenerId)
    : await selectSubscription(database, accountId, ref.subscriptionId);
  return row?.eventTypes ?? null;
}

/**
 * The subscription or listener with this global identifier or number, of any account, for operators.
 *
 * @throws {RefusedError} `NOT_FOUND` if there is neither
 */
export async function findSubscription({ gidNamespace, store }: ActionContext, gid: string) {
  const id = parseRecordId<'WebhookSubscription' | 'WebhookListener'>(gid);
  const types = ['WebhookSubscription', 'WebhookListener'] as const;
  for (const candidate of id === null ? [gid] : types.map((type) => formatGid(gidNamespace, type, id))) {
    const ref = parseSubscriptionRef(gidNamespace, candidate);
    const owner = ref && (await selectOwnerOf(store, ref));
    if (ref !== null && owner !== null) return { ref, owner, subscriptionId: candidate };
  }
  throw noSuchSubscription(gid);
}

/** The error of an action for subscriptions only, for operators. It says so if the number is that of a listener. */
export async function notASubscription({ gidNamespace, store }: ActionContext, gid: string): Promise<RefusedError> {
  const ref = parseSubscriptionRef(gidNamespace, gid.replace('/WebhookSubscription/', '/WebhookListener/'));
  if (ref === null || (await selectOwnerOf(store, ref)) === null) return noSuchSubscription(gid);
  return new RefusedError('NOT_FOUND', `${ref.subscriptionId} is a listener; pass a subscription.`);
}

function selectOwnerOf(
  database: Database,
  { isListener, subscriptionId }: SubscriptionRef,
): Promise<SubscriptionOwner | null> {
  return selectSubscriptionOwner(database, subscriptionId, isListener ? 'LISTENER' : 'PUSH');
}

/**
 * Finds the account of a subscription, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist
 */
export async function requireSubscription(context: ActionContext, gid: string): Promise<SubscriptionOwner> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const owner = id === null ? null : await selectSubscriptionOwner(context.store, id);
  if (owner === null) throw await notASubscription(context, gid);
  return owner;
}

/**
 * The account for which `by` uses a subscription. A caller uses only its own.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names none
 */
export function ownerFor(
  context: ActionContext,
  by: Caller | Operator,
  gid: string,
): SubscriptionOwner | Promise<SubscriptionOwner> {
  return isCaller(by) ? by : requireSubscription(context, gid);
}
