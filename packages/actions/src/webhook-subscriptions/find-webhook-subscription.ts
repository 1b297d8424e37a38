import { parseGid } from '@deedwire/domain';
import { selectSubscription } from '@deedwire/webhooks/subscriptions';
import type { ActionContext, Caller } from '../context.ts';
import { toWebhookSubscription, type WebhookSubscription } from './webhook-subscription.ts';

/** A subscription of the caller. Null if the caller has no subscription with this identifier. */
export async function findWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  gid: string,
): Promise<WebhookSubscription | null> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const row = id === null ? null : await selectSubscription(context.store, caller.accountId, id);
  return row === null ? null : toWebhookSubscription(context.gidNamespace, row);
}
