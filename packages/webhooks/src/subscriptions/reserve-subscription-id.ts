import { onlyRow, type Database } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Returns the id of the next subscription. The insert needs it, because the secret is encrypted with the id as associated
 * data.
 */
export async function reserveSubscriptionId(database: Database): Promise<SubscriptionId> {
  const statement = { name: 'reserve-subscription-id', text: 'select new_record_id() as id' };
  return onlyRow(await database.query<{ id: SubscriptionId }>(statement, [])).id;
}
