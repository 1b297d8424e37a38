import { onlyRow, type Database } from '@deedwire/store';
import type { ListBounds } from './listed-range.ts';

/** Served by webhook_subscription_pkey. */
export async function selectBoundsOfAllAccounts(database: Database): Promise<ListBounds> {
  const statement = {
    name: 'select-bounds-of-all-accounts',
    text: `
      select expired_before as "expiredBefore", clock_timestamp() as now,
        (select id from webhook_subscription order by id limit 1) as "oldestSubscriptionId"
      from webhook_retention`,
  };
  return onlyRow(await database.query<ListBounds>(statement, []));
}
