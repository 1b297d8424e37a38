import { parseGid, type RecordId } from '@deedwire/domain';
import { selectAttempts } from '@deedwire/store/webhook-deliveries';
import type { ActionContext } from '../context.ts';
import { toWebhookAttempt, type WebhookAttempt, type WebhookDelivery } from './records.ts';

const attemptsShown = 20;

/**
 * The latest 20 attempts of each of these deliveries, newest first: one list for each delivery, in their order. One
 * statement for all of them.
 *
 * @param deliveries as another action returned them: that the caller may see them has been decided there
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
