import { parseGid } from '@deedwire/domain';
import { selectDeliveries, type DeliveryStatus } from '@deedwire/webhooks/deliveries';
import type { ActionContext, Caller } from '../context.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toWebhookDelivery, type WebhookDelivery } from './webhook-delivery.ts';

/** A filter that is null or undefined does not restrict the list. */
export interface WebhookDeliveriesRequest extends PageRequest {
  subscriptionId?: string | null | undefined;
  status?: DeliveryStatus | null | undefined;
}

/**
 * The caller's deliveries, newest first. Empty if `subscriptionId` is not a subscription of the caller.
 *
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function listWebhookDeliveries(
  context: ActionContext,
  caller: Caller,
  request: WebhookDeliveriesRequest,
): Promise<Page<WebhookDelivery>> {
  const gid = request.subscriptionId ?? null;
  const subscriptionId = gid === null ? null : parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const matchesNothing = gid !== null && subscriptionId === null;
  const filter = { accountId: caller.accountId, subscriptionId, status: request.status ?? null };
  return keysetPage(
    'webhookDeliveries',
    request,
    async (query) => (matchesNothing ? [] : selectDeliveries(context.store, filter, query)),
    (row) => toWebhookDelivery(context.gidNamespace, row),
  );
}
