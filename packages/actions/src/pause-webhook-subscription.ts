import { formatGid, parseGid } from '@deedwire/domain';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, Operator } from './context.ts';
import type { MutationResult } from './errors.ts';
import { ownerFor } from './subscription-ref.ts';
import { subscriptionNotFound, toWebhookSubscription, type WebhookSubscription } from './webhook-subscriptions.ts';
import {
  lockSubscription,
  pauseSubscriptionByOwner,
  selectSubscription,
} from './webhooks/subscriptions/subscriptions.ts';

export type PauseWebhookSubscriptionResult = MutationResult<{ webhookSubscription: WebhookSubscription }, 'NOT_FOUND'>;

/**
 * Pauses a subscription for its owner. Its events are kept until it is resumed.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names no subscription
 */
export async function pauseWebhookSubscription(
  context: ActionContext,
  by: Caller | Operator,
  { id: gid }: { id: string },
): Promise<PauseWebhookSubscriptionResult> {
  const { gidNamespace, store } = context;
  const { accountId, interfaceName } = await ownerFor(context, by, gid);
  const id = parseGid(gidNamespace, 'WebhookSubscription', gid);
  const notFound = { webhookSubscription: null, userErrors: [subscriptionNotFound] };
  if (id === null) return notFound;
  return store.transaction(async (transaction) => {
    if ((await lockSubscription(transaction, accountId, id)) === null) return notFound;
    if (await pauseSubscriptionByOwner(transaction, id)) {
      await appendAuditEntry(transaction, by, {
        action: 'webhook_subscription.pause',
        subject: formatGid(gidNamespace, 'WebhookSubscription', id),
        account: { id: accountId, interfaceName },
      });
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    }
    const row = await selectSubscription(transaction, accountId, id);
    return row === null ? notFound : { webhookSubscription: toWebhookSubscription(gidNamespace, row), userErrors: [] };
  });
}
