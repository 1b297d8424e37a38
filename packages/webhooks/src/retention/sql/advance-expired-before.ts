import type { Database } from '@deedwire/store';
import type { DeliveryId } from '../../kernel/ids.ts';

/** Gives undelivered deliveries with smaller ids the status EXPIRED. The bound never moves back. */
export async function advanceExpiredBefore(database: Database, expiredBefore: DeliveryId): Promise<void> {
  const statement = {
    name: 'advance-expired-before',
    // webhook_retention has one row.
    text: 'update webhook_retention set expired_before = $1 where expired_before < $1',
  };
  await database.query(statement, [expiredBefore]);
}
