import { formatGid, parseGid } from '@deedwire/core';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, Caller, Operator } from '../kernel/context.ts';
import { inputError, type MutationResult } from '../kernel/errors.ts';
import { ownerFor } from '../subscriptions/subscription-ref.ts';
import { toWebhookSubscription, type WebhookSubscription } from '../subscriptions/webhook-subscriptions.ts';
import { lockSubscription, markSendPending, selectSubscription } from '../webhooks/subscriptions/subscriptions.ts';

export type SendPendingWebhookDeliveriesResult = MutationResult<
  { webhookSubscription: WebhookSubscription },
  'NOT_FOUND' | 'RATE_LIMITED'
>;

/**
 * Sends the deliveries of a subscription now that wait for a retry. If it is paused, they are sent once it is resumed.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names no subscription
 */
export async function sendPendingWebhookDeliveries(
  context: ActionContext,
  by: Caller | Operator,
  { subscriptionId: gid }: { subscriptionId: string },
): Promise<SendPendingWebhookDeliveriesResult> {
  const { gidNamespace, store } = context;
  const { accountId, interfaceName } = await ownerFor(context, by, gid);
  const id = parseGid(gidNamespace, 'WebhookSubscription', gid);
  if (id === null) return notFound;
  return store.transaction(async (transaction) => {
    if ((await lockSubscription(transaction, accountId, id)) === null) return notFound;
    if (!(await markSendPending(transaction, id))) return rateLimited;
    await appendAuditEntry(transaction, by, {
      action: 'webhook_subscription.send-pending',
      subject: formatGid(gidNamespace, 'WebhookSubscription', id),
      account: { id: accountId, interfaceName },
    });
    await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    const row = await selectSubscription(transaction, accountId, id);
    return row === null ? notFound : { webhookSubscription: toWebhookSubscription(gidNamespace, row), userErrors: [] };
  });
}

/** The same for a malformed identifier, a deleted subscription and the subscription of another account. */
const notFound = reject('NOT_FOUND', 'You have no subscription with this identifier.');

const rateLimited = reject(
  'RATE_LIMITED',
  'Such a request for this subscription was accepted within the last minute, which is the limit. Send the same request again in a minute.',
);

function reject(code: 'NOT_FOUND' | 'RATE_LIMITED', message: string): SendPendingWebhookDeliveriesResult {
  return { webhookSubscription: null, userErrors: [inputError(code, 'subscriptionId', message)] };
}
