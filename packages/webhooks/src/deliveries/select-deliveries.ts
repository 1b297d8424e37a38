import type { AccountId } from '@deedwire/domain';
import type { Database, PageQuery } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';
import { collectPage } from './collect-page.ts';
import type { DeliveryRow, DeliveryStatus } from './delivery-row.ts';
import { splitByDays } from './id-range.ts';
import { listedRange } from './listed-range.ts';
import { newestIds } from './newest-ids.ts';
import { selectDeliveriesById } from './select-deliveries-by-id.ts';
import { indexOf, selectDeliveryIds } from './select-delivery-ids.ts';
import { selectListedSubscriptions } from './select-listed-subscriptions.ts';

/** The deliveries of an account, or of one subscription. */
export type DeliveryFilter = { status: DeliveryStatus | null } & (
  | { accountId: AccountId; subscriptionId: SubscriptionId | null }
  | { accountId: null; subscriptionId: SubscriptionId }
);

// A step in the index of a day costs 3 buffers for each subscription. A day costs 3 locks.
const stepsPerStatement = 80;
const daysMin = 4;
const daysMax = 14;

/**
 * Returns deliveries, newest first. Each statement reads a bounded number of rows and partitions, whatever the number of
 * deliveries.
 */
export async function selectDeliveries(
  database: Database,
  filter: DeliveryFilter,
  page: PageQuery<'WebhookDelivery'>,
): Promise<DeliveryRow[]> {
  const { accountId, subscriptionId, status } = filter;
  const listed = await selectListedSubscriptions(database, accountId === null ? { subscriptionId } : { accountId });
  const subscriptionIds = listed.subscriptionIds.filter((id) => subscriptionId === null || id === subscriptionId);
  if (subscriptionIds.length === 0) return [];
  const index = indexOf(status);
  const range = listedRange(listed, status, page.afterId);
  const days = Math.min(daysMax, Math.max(daysMin, Math.floor(stepsPerStatement / subscriptionIds.length)));
  const source = {
    ranges: index === 'every' || index === 'successful' ? splitByDays(range, days) : [range],
    readIds: (part: typeof range, wanted: number) =>
      newestIds((...query) => selectDeliveryIds(database, index, ...query), subscriptionIds, part, wanted),
    load: (ids: Parameters<typeof selectDeliveriesById>[2]) => selectDeliveriesById(database, accountId, ids),
  };
  return collectPage(source, status, page.limit);
}
