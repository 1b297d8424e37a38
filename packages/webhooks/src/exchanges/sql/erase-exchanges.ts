import type { Database, Statement } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/pg-array.ts';

const eraseStatement: Statement = {
  name: 'erase-exchanges',
  text: 'select webhook_erase_exchanges($1::bigint, $2::bigint[])',
};

/** Deletes what attempts of these deliveries, at most 1,000, sent and received. Does nothing if the subscription is not deleted. */
export async function eraseExchanges(
  database: Database,
  subscriptionId: SubscriptionId,
  deliveries: readonly DeliveryId[],
): Promise<void> {
  await database.query(eraseStatement, [subscriptionId, pgArray(deliveries)]);
}
