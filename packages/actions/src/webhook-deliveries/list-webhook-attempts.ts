import { parseGid, type RecordId } from '@deedwire/domain';
import { selectAttempts } from '@deedwire/webhooks/deliveries';
import type { ActionContext } from '../context.ts';
import { toWebhookAttempt, type WebhookAttempt } from './webhook-attempt.ts';
import type { WebhookDelivery } from './webhook-delivery.ts';

const attemptsShown = 20;

/**
 * The latest 20 attempts of each delivery, newest first, read with one statement.
 *
 * @param deliveries results of another use case, which has checked that the caller may see them
 * @returns one list per delivery, in the order of `deliveries`
 */
export async function listWebhookAttempts(
  context: ActionContext,
  deliveries: readonly WebhookDelivery[],
): Promise<WebhookAttempt[][]> {
  const ids = deliveries.map(({ id }) => parseGid(context.gidNamespace, 'WebhookDelivery', id));
  const rows = await selectAttempts(
    context.store,
    ids.filter((id) => id !== null),
    attemptsShown,
  );
  const byDelivery = Map.groupBy(rows, (row): RecordId<'WebhookDelivery'> | null => row.deliveryId);
  return ids.map((id) => (byDelivery.get(id) ?? []).map(toWebhookAttempt));
}
