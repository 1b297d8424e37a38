import { parseGid } from '@deedwire/domain';
import { eraseIdempotencyKeysOfRecord } from '@deedwire/store/idempotency';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { deleteEventTypePins, lockSubscription, markSubscriptionDeleted } from '@deedwire/webhooks/subscriptions';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { ActionContext, Caller } from '../context.ts';
import type { UserError } from '../user-error.ts';
import { createMutation } from './create-webhook-subscription.ts';
import { subscriptionNotFound } from './subscription-not-found.ts';

/** Either the identifier of the deleted subscription, or user errors. */
export interface DeleteWebhookSubscriptionResult {
  deletedWebhookSubscriptionId: string | null;
  userErrors: UserError<'NOT_FOUND'>[];
}

/**
 * Deletes a subscription. No interface shows it or its deliveries any longer. Its worker stops sending and deletes the
 * pending deliveries.
 */
export async function deleteWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<DeleteWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const isDeleted =
    id !== null &&
    (await context.store.transaction(async (transaction) => {
      if ((await lockSubscription(transaction, caller.accountId, id)) === null) return false;
      await markSubscriptionDeleted(transaction, id);
      await deleteEventTypePins(transaction, id);
      const { accountId, interfaceName } = caller;
      await eraseIdempotencyKeysOfRecord(transaction, { accountId, mutation: createMutation, recordId: id });
      await appendAuditEntry(transaction, caller, {
        action: 'webhook_subscription.delete',
        subject: input.id,
        account: { id: accountId, interfaceName },
      });
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
      return true;
    }));
  return isDeleted
    ? { deletedWebhookSubscriptionId: input.id, userErrors: [] }
    : { deletedWebhookSubscriptionId: null, userErrors: [subscriptionNotFound] };
}
