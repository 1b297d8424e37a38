import { parseGid, type RecordId } from '@deedwire/core';
import type { Store } from '@deedwire/store';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from '../kernel/audit.ts';
import { type ActionContext, type Caller, isCaller, type Operator } from '../kernel/context.ts';
import { inputError, type MutationResult, RefusedError, type UserError } from '../kernel/errors.ts';
import { selectAttempts } from '../webhooks/deliveries/attempts.ts';
import { selectDelivery } from '../webhooks/deliveries/deliveries.ts';
import { countRecentRetries, insertRetry, selectExpiredBefore } from '../webhooks/replay/replays.ts';
import {
  lockSubscription,
  selectSubscriptionOwner,
  type SubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';
import { toWebhookDelivery, type WebhookDelivery } from './webhook-deliveries.ts';

export type RetryWebhookDeliveryErrorCode =
  | 'DELIVERY_EXPIRED'
  | 'NOT_FOUND'
  | 'PAYLOAD_UNAVAILABLE'
  | 'RETRY_RATE_LIMITED';

export type RetryWebhookDeliveryResult = MutationResult<
  { webhookDelivery: WebhookDelivery },
  RetryWebhookDeliveryErrorCode
>;

// A retry sends a request at once, including to a receiver that fails.
const retriesPerMinute = 60;

/**
 * Sends a delivery again, whatever its status, unless its payload is deleted.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names no delivery
 */
export async function retryWebhookDelivery(
  { gidNamespace, store }: ActionContext,
  by: Caller | Operator,
  input: { id: string },
): Promise<RetryWebhookDeliveryResult> {
  const id = parseGid(gidNamespace, 'WebhookDelivery', input.id);
  const owner = isCaller(by) ? by : id && (await ownerOfDelivery(store, id));
  if (owner === null && !isCaller(by)) throw new RefusedError('NOT_FOUND', `The delivery ${input.id} does not exist.`);
  if (id === null || owner === null) return reject(deliveryNotFound);
  const { accountId, interfaceName } = owner;
  return store.transaction(async (transaction) => {
    const delivery = await selectDelivery(transaction, accountId, id);
    const subscription = delivery && (await lockSubscription(transaction, accountId, delivery.subscriptionId));
    if (delivery === null || subscription === null) return reject(deliveryNotFound);
    if (BigInt(id) < BigInt(await selectExpiredBefore(transaction))) return reject(deliveryExpired);
    if (delivery.payloadDeletion === 'ERASED') return reject(payloadErased);
    const [[latest] = []] = await selectAttempts(transaction, [{ deliveryId: id, before: null, limit: 1 }]);
    if (latest?.error === 'RENDERING_FAILED') return reject(payloadUnavailable);
    if ((await countRecentRetries(transaction, accountId, retriesPerMinute)) >= retriesPerMinute)
      return reject(limited);

    const { subscriptionId } = delivery;
    if (await insertRetry(transaction, { accountId, interfaceName, subscriptionId, deliveryId: id })) {
      await appendAuditEntry(transaction, by, {
        action: 'webhook_delivery.retry',
        subject: toWebhookDelivery(gidNamespace, delivery).id,
        account: { id: accountId, interfaceName },
        details: { status: delivery.status },
      });
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId });
    }
    const row = await selectDelivery(transaction, accountId, id);
    return row === null
      ? reject(deliveryNotFound)
      : { webhookDelivery: toWebhookDelivery(gidNamespace, row), userErrors: [] };
  });
}

async function ownerOfDelivery(store: Store, id: RecordId<'WebhookDelivery'>): Promise<SubscriptionOwner | null> {
  const row = await selectDelivery(store, null, id);
  return row && selectSubscriptionOwner(store, row.subscriptionId);
}

/** The same for a malformed identifier, the delivery of a deleted subscription and that of another account. */
const deliveryNotFound = inputError('NOT_FOUND', 'id', 'You have no delivery with this identifier.');

const deliveryExpired = inputError(
  'DELIVERY_EXPIRED',
  'id',
  'The retention period of the delivery has ended, and its payload is deleted. Read the record with a query instead.',
);

const payloadUnavailable = inputError(
  'PAYLOAD_UNAVAILABLE',
  'id',
  'Deedwire could not render the payload of the delivery, so there is nothing to send. Read the record with a query instead.',
);

const payloadErased = inputError(
  'PAYLOAD_UNAVAILABLE',
  'id',
  'The payload of the delivery is deleted, because the person whom it named was erased. There is nothing to send.',
);

const limited: UserError<'RETRY_RATE_LIMITED'> = {
  code: 'RETRY_RATE_LIMITED',
  message: `The account has retried ${retriesPerMinute} deliveries within the last minute, which is the limit. Send the same request again in a minute.`,
  field: null,
};

function reject(error: UserError<RetryWebhookDeliveryErrorCode>): RetryWebhookDeliveryResult {
  return { webhookDelivery: null, userErrors: [error] };
}
