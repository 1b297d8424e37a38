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
import { inputError, type UserError } from '../user-error.ts';

/** Either the identifier of what was deleted, or reasons why nothing was. */
export interface DeleteWebhookSubscriptionResult {
  deletedWebhookSubscriptionId: string | null;
  userErrors: UserError<'NOT_FOUND'>[];
}

/** Deletes a subscription. What has not been delivered yet is not sent any more; an attempt under way is not recorded. */
export async function deleteWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<DeleteWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const isDeleted =
    id !== null &&
    (await context.store.transaction(async (transaction) => {
      // Nobody can hold up the lane of another's.
      if ((await selectSubscription(transaction, caller.accountId, id)) === null) return false;
      // The lane first: whoever sends locks them in this order, too.
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
    : { deletedWebhookSubscriptionId: null, userErrors: [notFound] };
}

const notFound = inputError('NOT_FOUND', 'id', 'You have no subscription with this identifier.');
