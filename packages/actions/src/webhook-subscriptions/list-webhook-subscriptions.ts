import { selectSubscriptions } from '@deedwire/webhooks/subscriptions';
import type { ActionContext, Caller } from '../context.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toWebhookSubscription, type WebhookSubscription } from './webhook-subscription.ts';

/**
 * The caller's subscriptions, newest first.
 *
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function listWebhookSubscriptions(
  context: ActionContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<WebhookSubscription>> {
  return keysetPage(
    'webhookSubscriptions',
    request,
    (query) => selectSubscriptions(context.store, caller.accountId, query),
    (row) => toWebhookSubscription(context.gidNamespace, row),
  );
}
