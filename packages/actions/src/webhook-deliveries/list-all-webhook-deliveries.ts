import { parseGid } from '@deedwire/domain';
import { selectDeliveries, selectDeliveriesOfAllAccounts, type DeliveryStatus } from '@deedwire/webhooks/deliveries';
import { subscriptionExists } from '@deedwire/webhooks/subscriptions';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toWebhookDelivery, type WebhookDelivery } from './webhook-delivery.ts';

/**
 * The deliveries of all accounts, newest first.
 *
 * @param request.subscriptionId null for deliveries to any subscription
 * @throws {RefusedError} `NOT_FOUND` if the subscription does not exist
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function listAllWebhookDeliveries(
  context: ActionContext,
  request: PageRequest & { subscriptionId: string | null; status: DeliveryStatus | null },
): Promise<Page<WebhookDelivery>> {
  const gid = request.subscriptionId;
  const subscriptionId = gid === null ? null : parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const exists = subscriptionId !== null && (await subscriptionExists(context.store, subscriptionId));
  if (gid !== null && !exists) throw new RefusedError('NOT_FOUND', `The subscription ${gid} does not exist.`);
  const { status } = request;
  return keysetPage(
    'webhookDeliveries',
    request,
    (query) =>
      subscriptionId === null
        ? selectDeliveriesOfAllAccounts(context.store, status, query)
        : selectDeliveries(context.store, { accountId: null, subscriptionId, status }, query),
    (row) => toWebhookDelivery(context.gidNamespace, row),
  );
}
