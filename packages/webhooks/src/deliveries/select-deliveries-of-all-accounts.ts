import type { Database, PageQuery } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import { collectPage, type PageSource } from './collect-page.ts';
import type { DeliveryRow, DeliveryStatus } from './delivery-row.ts';
import { splitByDays, type IdRange } from './id-range.ts';
import { listedRange } from './listed-range.ts';
import { newestIds } from './newest-ids.ts';
import { selectBoundsOfAllAccounts } from './select-bounds-of-all-accounts.ts';
import { selectDeliveriesById } from './select-deliveries-by-id.ts';
import { selectDeliveryIds } from './select-delivery-ids.ts';
import { selectIdsOfAllAccounts } from './select-ids-of-all-accounts.ts';
import { selectLatestAttemptsOfAllAccounts } from './select-latest-attempts-of-all-accounts.ts';
import { selectSubscriptionsWith } from './select-subscriptions-with.ts';

const daysPerStatement = 14;
const subscriptionsPerStatement = 50;
// Attempts of one delivery can lie far apart, so each costs up to one buffer.
const attemptsPerStatement = 300;

/**
 * Returns deliveries of all accounts, newest first, for operators. Each statement reads a bounded number of rows and
 * partitions. The number of statements can grow: for `PENDING`, `FAILED` and `EXPIRED` with the number of subscriptions
 * that have such deliveries, otherwise with the number of newer deliveries that are not in the list.
 */
export async function selectDeliveriesOfAllAccounts(
  database: Database,
  status: DeliveryStatus | null,
  page: PageQuery<'WebhookDelivery'>,
): Promise<DeliveryRow[]> {
  const range = listedRange(await selectBoundsOfAllAccounts(database), status, page.afterId);
  const load = (ids: readonly DeliveryId[]) => selectDeliveriesById(database, null, ids);
  const source: PageSource =
    status === null || status === 'DELIVERED'
      ? { ranges: splitByDays(range, daysPerStatement), readIds: byTime(database, status), load }
      : { ranges: [range], readIds: await bySubscription(database, status), load };
  return collectPage(source, status, page.limit);
}

function byTime(database: Database, status: 'DELIVERED' | null): PageSource['readIds'] {
  if (status === null) return (range, wanted) => selectIdsOfAllAccounts(database, range, wanted);
  return async ({ min, before }, wanted) => {
    const ids = new Set<DeliveryId>();
    for (let end: bigint | null = before; end !== null && ids.size < wanted;) {
      const { deliveryIds, lastId } = await selectLatestAttemptsOfAllAccounts(
        database,
        { min, before: end },
        attemptsPerStatement,
      );
      for (const id of deliveryIds) ids.add(id);
      end = lastId === null ? null : BigInt(lastId);
    }
    return [...ids].slice(0, wanted);
  };
}

async function bySubscription(
  database: Database,
  status: 'PENDING' | 'FAILED' | 'EXPIRED',
): Promise<PageSource['readIds']> {
  const index = status === 'PENDING' ? 'pending' : 'failed';
  const subscriptionIds: SubscriptionId[] = [];
  for (let found: SubscriptionId[] | null = null; found === null || found.length === subscriptionsPerStatement;) {
    found = await selectSubscriptionsWith(database, index, subscriptionIds.at(-1) ?? null, subscriptionsPerStatement);
    subscriptionIds.push(...found);
  }
  return (range: IdRange, wanted: number) =>
    newestIds(
      async (positions, part, limit) => {
        const rows = [];
        for (let start = 0; start < positions.length; start += subscriptionsPerStatement) {
          const group = positions.slice(start, start + subscriptionsPerStatement);
          rows.push(...(await selectDeliveryIds(database, index, group, part, limit)));
        }
        return rows;
      },
      subscriptionIds,
      range,
      wanted,
    );
}
