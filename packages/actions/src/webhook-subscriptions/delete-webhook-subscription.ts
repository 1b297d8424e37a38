import { parseGid } from '@deedwire/domain';
import {
  deleteLane,
  deletePendingDeliveries,
  deleteSubscriptionEventTypes,
  lockLanes,
  lockSubscription,
  markSubscriptionDeleted,
  selectSubscription,
} from '@deedwire/store/webhook-subscriptions';
import type { ActionContext, Caller } from '../context.ts';
import type { UserError } from '../user-error.ts';
import { subscriptionNotFound } from './subscription-not-found.ts';

/** Either the identifier of the deleted subscription, or user errors. */
export interface DeleteWebhookSubscriptionResult {
  deletedWebhookSubscriptionId: string | null;
  userErrors: UserError<'NOT_FOUND'>[];
}

/** Deletes a subscription. Its pending deliveries are not sent, and an attempt in flight is not recorded. */
export async function deleteWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<DeleteWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const isDeleted =
    id !== null &&
    (await context.store.transaction(async (transaction) => {
      // Check the owner before locking: a client must not be able to block the lane of another account.
      if ((await selectSubscription(transaction, caller.accountId, id)) === null) return false;
      // The worker also locks the lane before the subscription. Another order could deadlock.
      await lockLanes(transaction, [id]);
      if ((await lockSubscription(transaction, caller.accountId, id)) === null) return false;
      await markSubscriptionDeleted(transaction, id);
      await deleteSubscriptionEventTypes(transaction, id);
      await deletePendingDeliveries(transaction, id);
      await deleteLane(transaction, id);
      return true;
    }));
  return isDeleted
    ? { deletedWebhookSubscriptionId: input.id, userErrors: [] }
    : { deletedWebhookSubscriptionId: null, userErrors: [subscriptionNotFound] };
}
