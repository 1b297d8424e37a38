import { formatGid, parseGid } from '@deedwire/domain';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, Operator, OperatorContext } from './context.ts';
import { noSuchSubscription, type UserError } from './errors.ts';
import { requireSubscription } from './require-subscription.ts';
import { subscriptionNotFound, toWebhookSubscription, type WebhookSubscription } from './webhook-subscriptions.ts';
import {
  lockSubscription,
  pauseSubscriptionByOwner,
  selectSubscription,
  type SubscriptionOwner,
} from './webhooks/subscriptions/subscriptions.ts';

/** Either the paused subscription, or user errors. */
export interface PauseWebhookSubscriptionResult {
  webhookSubscription: WebhookSubscription | null;
  userErrors: UserError<'NOT_FOUND'>[];
}

/** Pauses a subscription of the caller. Its events are kept until it is resumed. */
export async function pauseWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<PauseWebhookSubscriptionResult> {
  const webhookSubscription = await pause(context, caller, caller, input.id);
  return { webhookSubscription, userErrors: webhookSubscription === null ? [subscriptionNotFound] : [] };
}

/**
 * Pauses any subscription for its owner, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if the subscription does not exist
 */
export async function pauseSubscription(
  context: OperatorContext,
  { subscriptionId }: { subscriptionId: string },
): Promise<WebhookSubscription> {
  const owner = await requireSubscription(context, subscriptionId);
  const paused = await pause(context, owner, context.operator, subscriptionId);
  if (paused === null) throw noSuchSubscription(subscriptionId);
  return paused;
}

/** Null if the account has no such subscription. */
async function pause(
  { gidNamespace, store }: ActionContext,
  { accountId, interfaceName }: SubscriptionOwner,
  by: Caller | Operator,
  gid: string,
): Promise<WebhookSubscription | null> {
  const id = parseGid(gidNamespace, 'WebhookSubscription', gid);
  if (id === null) return null;
  return store.transaction(async (transaction) => {
    if ((await lockSubscription(transaction, accountId, id)) === null) return null;
    if (await pauseSubscriptionByOwner(transaction, id)) {
      await appendAuditEntry(transaction, by, {
        action: 'webhook_subscription.pause',
        subject: formatGid(gidNamespace, 'WebhookSubscription', id),
        account: { id: accountId, interfaceName },
      });
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    }
    const row = await selectSubscription(transaction, accountId, id);
    return row === null ? null : toWebhookSubscription(gidNamespace, row);
  });
}
