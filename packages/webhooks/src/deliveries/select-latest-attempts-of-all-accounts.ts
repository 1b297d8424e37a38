import { onlyRow, type Database } from '@deedwire/store';
import type { DeliveryId } from '../kernel/ids.ts';
import type { IdRange } from './id-range.ts';

export interface ScannedAttempts {
  /** The deliveries with a successful attempt, newest first. */
  deliveryIds: DeliveryId[];
  /** The last delivery whose attempts were read. Null if the range contains no more. */
  lastId: DeliveryId | null;
}

/**
 * Reads the attempts of the newest deliveries of a range, of all accounts and with any result, because no index lists the
 * successful ones of all accounts. Reads the last attempt of a delivery first, so that the limit never cuts off a success.
 *
 * Served by webhook_attempt_pkey.
 *
 * @param limit the maximum number of attempts to read
 */
export async function selectLatestAttemptsOfAllAccounts(
  database: Database,
  range: IdRange,
  limit: number,
): Promise<ScannedAttempts> {
  const statement = {
    name: 'select-latest-attempts-of-all-accounts',
    planning: 'in-index-order' as const,
    text: `
      select
        coalesce(
          array_agg(distinct delivery_id order by delivery_id desc)
            filter (where error is null and response_status between 200 and 299),
          '{}'
        )::text[] as "deliveryIds",
        case when count(*) = $3 then min(delivery_id) end as "lastId"
      from (
        select delivery_id, error, response_status
        from webhook_attempt
        where delivery_id >= $1::bigint and delivery_id < $2::bigint
        order by delivery_id desc, number desc
        limit $3
      ) latest`,
  };
  return onlyRow(await database.query<ScannedAttempts>(statement, [range.min, range.before, limit]));
}
