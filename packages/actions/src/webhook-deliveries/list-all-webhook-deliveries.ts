import { parseGid } from '@deedwire/domain';
import { selectDeliveries, type DeliveryStatus } from '@deedwire/store/webhook-deliveries';
import { subscriptionExists } from '@deedwire/store/webhook-subscriptions';
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
  const filter = { accountId: null, subscriptionId, status: request.status };
  return keysetPage(
    'webhookDeliveries',
    request,
    (query) => selectDeliveries(context.store, filter, query),
    (row) => toWebhookDelivery(context.gidNamespace, row),
  );
}
