import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '@deedwire/store';
import { selectSendingMs } from '@deedwire/store/cell-splits';
import { callErasing } from '@deedwire/store/person-erasures';
import { workerOf } from '@deedwire/webhooks/outbox';
import type { DeliveryId } from '@deedwire/webhooks/tables';
import type { OperatorContext } from '../../kernel/context.ts';
import { type OnProgress, unhurried } from '../../kernel/unhurried.ts';
import type { PersonDelivery } from './history.ts';
import { idsInParts } from './kept-of-person.ts';

const workerMaxMs = 60_000;

/**
 * Once it has read the subscription again, a worker has no payload of a delivery in its memory, apart from those in flight. A worker
 * that was declared dead reads no more targets, so it sends none of its payloads when their age is over.
 */
export async function waitForWorkers(
  { store }: OperatorContext,
  deliveries: readonly PersonDelivery[],
  onProgress: OnProgress,
): Promise<void> {
  /** One delivery of each subscription that workers read again. */
  const reread: DeliveryId[] = [];
  for (const ofSubscription of Map.groupBy(deliveries, ({ subscriptionId }) => subscriptionId).values())
    for (const ids of idsInParts(ofSubscription)) {
      const notifyWorkers = async (transaction: Transaction): Promise<boolean> => {
        const accountIds = await callErasing(transaction, 'reread_erased_deliveries', ids);
        for (const accountId of accountIds) transaction.notifyAfterCommit(workerOf(accountId));
        return accountIds.length > 0;
      };
      if (!(await unhurried(() => store.transaction(notifyWorkers)))) continue;
      reread.push(...ids.slice(0, 1));
      break;
    }
  // What was erased before has been waited for, unless it is still pending.
  if (reread.length === 0 && deliveries.every(({ isErased }) => isErased)) return;
  const untilMs = performance.now() + workerMaxMs;
  while ((await callErasing(store, 'are_erased_deliveries_reread', reread)).includes(false)) {
    if (performance.now() > untilMs)
      throw new Error('For a minute, the worker has not read a subscription again, so it may still send. Try again.');
    onProgress('Waiting for the worker');
    await sleep(100);
  }
  // Until a worker without a lease is declared dead, it goes on where it was suspended.
  await callErasing(store, 'webhook_unquiet_workers', 'infinity');
  const sendingMs = await selectSendingMs(store);
  for (let waitedMs = 0; waitedMs < sendingMs; waitedMs += 1_000) {
    onProgress('Waiting for requests in flight');
    await sleep(1_000);
  }
}
