import { selectSubscriptions } from '@deedwire/store/webhook-subscriptions';
import type { ActionContext, Caller } from '../context.ts';
import { readPage, type Page, type PageRequest } from '../page.ts';
import { toWebhookSubscription, type WebhookSubscription } from './records.ts';

/**
 * The caller's subscriptions, newest first.
 *
 * @throws InvalidArgumentError
 */
export async function listWebhookSubscriptions(
  context: ActionContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<WebhookSubscription>> {
  return readPage(
    'webhookSubscriptions',
    request,
    (query) => selectSubscriptions(context.store, caller.accountId, query),
    (row) => toWebhookSubscription(context.gidNamespace, row),
  );
}
