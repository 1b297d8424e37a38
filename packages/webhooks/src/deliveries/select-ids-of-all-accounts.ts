import type { Database } from '@deedwire/store';
import type { DeliveryId } from '../kernel/ids.ts';
import type { IdRange } from './id-range.ts';

/** The newest deliveries of a range, of all accounts. Served by webhook_delivery_pkey. */
export async function selectIdsOfAllAccounts(database: Database, range: IdRange, limit: number): Promise<DeliveryId[]> {
  const statement = {
    name: 'select-ids-of-all-accounts',
    planning: 'in-index-order' as const,
    text: `
      select id
      from webhook_delivery
      where id >= $1::bigint and id < $2::bigint
      order by id desc
      limit $3`,
  };
  const rows = await database.query<{ id: DeliveryId }>(statement, [range.min, range.before, limit]);
  return rows.map(({ id }) => id);
}
