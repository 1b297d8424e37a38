import { parseGid } from '@deedwire/domain';
import { selectDeliveries, type DeliveryStatus } from '@deedwire/store/webhook-deliveries';
import type { ActionContext, Caller } from '../context.ts';
import { readPage, type Page, type PageRequest } from '../page.ts';
import { toWebhookDelivery, type WebhookDelivery } from './records.ts';

/** Null or undefined: whatever the subscription or the status. */
export interface WebhookDeliveriesRequest extends PageRequest {
  subscriptionId?: string | null | undefined;
  status?: DeliveryStatus | null | undefined;
}

/**
 * The caller's deliveries, newest first. None for a subscription that the caller does not have.
 *
 * @throws InvalidArgumentError
 */
export async function listWebhookDeliveries(
  context: ActionContext,
  caller: Caller,
  request: WebhookDeliveriesRequest,
): Promise<Page<WebhookDelivery>> {
  const gid = request.subscriptionId ?? null;
  const subscriptionId = gid === null ? null : parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const isImpossible = gid !== null && subscriptionId === null;
  const filter = { accountId: caller.accountId, subscriptionId, status: request.status ?? null };
  return readPage(
    'webhookDeliveries',
    request,
    async (query) => (isImpossible ? [] : selectDeliveries(context.store, filter, query)),
    (row) => toWebhookDelivery(context.gidNamespace, row),
  );
}
