import { parseGid, type RecordId } from '@deedwire/domain';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, Operator, OperatorContext } from './context.ts';
import { inputError, RefusedError, type UserError } from './errors.ts';
import { toWebhookDelivery, type WebhookDelivery } from './webhook-deliveries.ts';
import { selectAttempts } from './webhooks/deliveries/attempts.ts';
import { selectDelivery } from './webhooks/deliveries/deliveries.ts';
import { countRecentRetries, insertRetry, selectExpiredBefore } from './webhooks/replay/retries.ts';
import {
  lockSubscription,
  selectSubscriptionOwner,
  type SubscriptionOwner,
} from './webhooks/subscriptions/subscriptions.ts';

/** The user errors of `retryWebhookDelivery`. */
export type RetryWebhookDeliveryErrorCode =
  | 'DELIVERY_EXPIRED'
  | 'NOT_FOUND'
  | 'PAYLOAD_UNAVAILABLE'
  | 'RETRY_RATE_LIMITED';

/** Either the delivery, or user errors. */
export interface RetryWebhookDeliveryResult {
  webhookDelivery: WebhookDelivery | null;
  userErrors: UserError<RetryWebhookDeliveryErrorCode>[];
}

// A retry sends a request at once, also to a receiver that fails.
const retriesPerMinute = 60;

/** Sends a delivery of the caller again, whatever its status, unless its payload is deleted. */
export async function retryWebhookDelivery(
  context: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<RetryWebhookDeliveryResult> {
  const id = parseGid(context.gidNamespace, 'WebhookDelivery', input.id);
  return id === null ? reject(deliveryNotFound) : retry(context, caller, { id, owner: caller });
}

/**
 * Sends any delivery again, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if the delivery does not exist, `CONFLICT` if it cannot be sent again, `LIMIT_REACHED` if its
 * account has had 60 retries within a minute
 */
export async function retryDelivery(
  context: OperatorContext,
  { deliveryId }: { deliveryId: string },
): Promise<WebhookDelivery> {
  const { gidNamespace, store, operator } = context;
  const id = parseGid(gidNamespace, 'WebhookDelivery', deliveryId);
  const row = id && (await selectDelivery(store, null, id));
  const owner = row && (await selectSubscriptionOwner(store, row.subscriptionId));
  const result = id && owner ? await retry(context, operator, { id, owner }) : reject(deliveryNotFound);
  if (result.webhookDelivery !== null) return result.webhookDelivery;
  const [error = deliveryNotFound] = result.userErrors;
  switch (error.code) {
    case 'NOT_FOUND':
      throw new RefusedError('NOT_FOUND', `The delivery ${deliveryId} does not exist.`);
    case 'RETRY_RATE_LIMITED':
      throw new RefusedError('LIMIT_REACHED', error.message);
    case 'DELIVERY_EXPIRED':
    case 'PAYLOAD_UNAVAILABLE':
      throw new RefusedError('CONFLICT', error.message);
  }
}

interface RetryRequest {
  id: RecordId<'WebhookDelivery'>;
  owner: SubscriptionOwner;
}

async function retry(
  { gidNamespace, store }: ActionContext,
  by: Caller | Operator,
  { id, owner: { accountId, interfaceName } }: RetryRequest,
): Promise<RetryWebhookDeliveryResult> {
  return store.transaction(async (transaction) => {
    const delivery = await selectDelivery(transaction, accountId, id);
    const subscription = delivery && (await lockSubscription(transaction, accountId, delivery.subscriptionId));
    if (delivery === null || subscription === null) return reject(deliveryNotFound);
    if (BigInt(id) < BigInt(await selectExpiredBefore(transaction))) return reject(deliveryExpired);
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

const limited: UserError<'RETRY_RATE_LIMITED'> = {
  code: 'RETRY_RATE_LIMITED',
  message: `The account has retried ${retriesPerMinute} deliveries within the last minute, which is the limit. Send the same request again in a minute.`,
  field: null,
};

function reject(error: UserError<RetryWebhookDeliveryErrorCode>): RetryWebhookDeliveryResult {
  return { webhookDelivery: null, userErrors: [error] };
}
