import { parseGid } from '@deedwire/domain';
import { selectDelivery } from '@deedwire/webhooks/deliveries';
import type { ActionContext, Caller } from '../context.ts';
import { toWebhookDelivery, type WebhookDelivery } from './webhook-delivery.ts';

/** A delivery of the caller. Null if the caller has no delivery with this identifier. */
export async function findWebhookDelivery(
  context: ActionContext,
  caller: Caller,
  gid: string,
): Promise<WebhookDelivery | null> {
  const id = parseGid(context.gidNamespace, 'WebhookDelivery', gid);
  const row = id === null ? null : await selectDelivery(context.store, caller.accountId, id);
  return row === null ? null : toWebhookDelivery(context.gidNamespace, row);
}
