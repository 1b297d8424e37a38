import { parseGid } from '@deedwire/domain';
import { selectDelivery } from '@deedwire/webhooks/deliveries';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { listWebhookAttempts } from './list-webhook-attempts.ts';
import type { WebhookAttempt } from './webhook-attempt.ts';
import { toWebhookDelivery, type WebhookDelivery } from './webhook-delivery.ts';

/**
 * A delivery of any account, with its latest 20 attempts, newest first.
 *
 * @throws {RefusedError} `NOT_FOUND` if the delivery does not exist
 */
export async function readWebhookDelivery(
  context: ActionContext,
  input: { deliveryId: string },
): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
  const id = parseGid(context.gidNamespace, 'WebhookDelivery', input.deliveryId);
  const row = id === null ? null : await selectDelivery(context.store, null, id);
  if (row === null) throw new RefusedError('NOT_FOUND', `The delivery ${input.deliveryId} does not exist.`);
  const delivery = toWebhookDelivery(context.gidNamespace, row);
  const [attempts = []] = await listWebhookAttempts(context, [delivery]);
  return { ...delivery, attempts };
}
