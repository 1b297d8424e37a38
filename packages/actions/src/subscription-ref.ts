import { parseGid } from '@deedwire/domain';
import type { Database } from '@deedwire/store';
import {
  type ListenerId,
  selectListener,
  selectListenerOwner,
  selectSubscription,
  selectSubscriptionOwner,
  type SubscriptionId,
  subscriptionIdOf,
  type SubscriptionOwner,
} from '@deedwire/webhooks/subscriptions';
import type { SubscribedEventType } from './webhook-subscriptions.ts';

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
): Promise<SubscribedEventType[] | null> {
  const row = ref.isListener
    ? await selectListener(database, accountId, ref.listenerId)
    : await selectSubscription(database, accountId, ref.subscriptionId);
  return row?.eventTypes ?? null;
}

/** Looks in all accounts, for operators. Null if there is none with this identifier. */
export function selectOwnerOf(database: Database, ref: SubscriptionRef): Promise<SubscriptionOwner | null> {
  return ref.isListener
    ? selectListenerOwner(database, ref.listenerId)
    : selectSubscriptionOwner(database, ref.subscriptionId);
}
