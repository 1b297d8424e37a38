import { parseGid } from '@deedwire/domain';
import type { ActionContext } from './context.ts';
import { notASubscription } from './subscription-ref.ts';
import { selectSubscriptionOwner, type SubscriptionOwner } from './webhooks/subscriptions/subscriptions.ts';

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
