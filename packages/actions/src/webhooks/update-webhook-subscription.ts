import { parseGid, secretAssociatedData, type RecordId } from '@deedwire/domain';
import {
  type SubscriptionRow,
  deleteSubscriptionEventTypes,
  insertSubscriptionEventTypes,
  lockLanes,
  lockSubscription,
  resumeSubscription,
  selectSubscription,
  updateSubscriptionUrl,
} from '@deedwire/store/webhook-subscriptions';
import { checkCallbackUrl } from '@deedwire/webhook-sender';
import type { Caller, WebhookActionContext } from '../context.ts';
import { inputError, type UserError } from '../user-error.ts';
import { chooseEventTypes, type EventTypeChoice, type EventTypesErrorCode } from './choose-event-types.ts';
import { pinnableEventVersions } from './event-versions.ts';
import { toWebhookSubscription, type SubscribedEventType, type WebhookSubscription } from './records.ts';
import { verifyCallbackUrl, type VerificationErrorCode } from './verify-callback-url.ts';

/** The user errors of `updateWebhookSubscription`. */
export type UpdateWebhookSubscriptionErrorCode = EventTypesErrorCode | VerificationErrorCode | 'NOT_FOUND';

/** Mirrors `UpdateWebhookSubscriptionInput`. Null or undefined: stays as it is. */
export interface UpdateWebhookSubscriptionInput {
  id: string;
  callbackUrl?: string | null | undefined;
  eventTypes?: readonly EventTypeChoice[] | null | undefined;
}

/** Either the changed subscription, or reasons why nothing was changed. */
export interface UpdateWebhookSubscriptionResult {
  webhookSubscription: WebhookSubscription | null;
  userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[];
}

interface Change {
  /** To be verified. Null: stays. */
  callbackUrl: string | null;
  /** Null: stay. */
  eventTypes: SubscribedEventType[] | null;
}

/** Changes the callback URL or the event types of a subscription. A new URL is verified first. */
export async function updateWebhookSubscription(
  context: WebhookActionContext,
  caller: Caller,
  input: UpdateWebhookSubscriptionInput,
): Promise<UpdateWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const current = id === null ? null : await selectSubscription(context.store, caller.accountId, id);
  if (id === null || current === null) return refuse([notFound]);

  const { change, userErrors } = readChange(context, caller, input, current);
  if (userErrors.length > 0) return refuse(userErrors);

  if (change.callbackUrl !== null) {
    const secret = context.secretKeys.decrypt(current.secretCiphertext, secretAssociatedData(id));
    const verificationError = await verifyCallbackUrl(context, caller, { url: change.callbackUrl, secret });
    if (verificationError !== null) return refuse([verificationError]);
  }

  const changed = await save(context, caller, id, change);
  if (changed === null) return refuse([notFound]);
  return { webhookSubscription: toWebhookSubscription(context.gidNamespace, changed), userErrors: [] };
}

function readChange(
  context: WebhookActionContext,
  caller: Caller,
  input: UpdateWebhookSubscriptionInput,
  current: SubscriptionRow,
): { change: Change; userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[] } {
  const change: Change = { callbackUrl: null, eventTypes: null };
  const userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[] = [];
  if (input.callbackUrl !== null && input.callbackUrl !== undefined) {
    const url = checkCallbackUrl(input.callbackUrl, context.callbackPolicy);
    // The same URL proves nothing new, unless it was gone. Only one that is verified takes a subscription up again.
    if (url.ok)
      change.callbackUrl = url.href === current.callbackUrl && current.pausedReason !== 'GONE' ? null : url.href;
    else userErrors.push(inputError(url.code, 'callbackUrl', url.message));
  }
  if (input.eventTypes !== null && input.eventTypes !== undefined) {
    const choice = chooseEventTypes(caller.interfaceName, input.eventTypes, current.eventTypes, new Date());
    change.eventTypes = choice.eventTypes;
    userErrors.push(...choice.userErrors);
  }
  return { change, userErrors };
}

/** Null when the subscription was deleted meanwhile. */
async function save(
  context: WebhookActionContext,
  caller: Caller,
  id: RecordId<'WebhookSubscription'>,
  change: Change,
): Promise<SubscriptionRow | null> {
  return context.store.transaction(async (transaction) => {
    // The lane first: whoever sends locks them in this order, too.
    await lockLanes(transaction, [id]);
    const locked = await lockSubscription(transaction, caller.accountId, id);
    if (locked === null) return null;
    if (change.callbackUrl !== null) {
      await updateSubscriptionUrl(transaction, id, change.callbackUrl);
      if (locked.pausedReason === 'GONE') await resumeSubscription(transaction, id);
    }
    if (change.eventTypes !== null) {
      await deleteSubscriptionEventTypes(transaction, id);
      await insertSubscriptionEventTypes(transaction, { id, interfaceName: caller.interfaceName }, change.eventTypes);
      if (locked.pausedReason === 'VERSION_RETIRED' && areServed(change.eventTypes)) {
        await resumeSubscription(transaction, id);
      }
    }
    return selectSubscription(transaction, caller.accountId, id);
  });
}

/** Whether no pin is at its end. One that this build does not know may have been removed after its end. */
function areServed(eventTypes: readonly SubscribedEventType[]): boolean {
  return eventTypes.every(({ type, version }) => pinnableEventVersions(type, new Date()).includes(version));
}

const notFound = inputError('NOT_FOUND', 'id', 'You have no subscription with this identifier.');

function refuse(userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[]): UpdateWebhookSubscriptionResult {
  return { webhookSubscription: null, userErrors };
}
