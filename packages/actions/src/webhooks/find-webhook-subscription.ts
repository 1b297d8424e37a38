import { parseGid } from '@deedwire/domain';
import { selectSubscription } from '@deedwire/store/webhook-subscriptions';
import type { ActionContext, Caller } from '../context.ts';
import { toWebhookSubscription, type WebhookSubscription } from './records.ts';

/** A subscription of the caller. Null when it has none with this identifier, whatever the reason. */
export async function findWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  gid: string,
): Promise<WebhookSubscription | null> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const row = id === null ? null : await selectSubscription(context.store, caller.accountId, id);
  return row === null ? null : toWebhookSubscription(context.gidNamespace, row);
}
