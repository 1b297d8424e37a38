import type { AccountId } from '@deedwire/domain';
import type { Logger } from '@deedwire/service-runtime';
import type { Store } from '@deedwire/store';
import { selectAccountsWithQueuedEvents } from '@deedwire/store/webhook-fan-out';
import { createLoop, type Loop } from '../loop.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { knownEventVersions } from '../rendering/render-payload.ts';
import { fanOutAccount } from './fan-out-account.ts';

export interface FanOutOptions {
  store: Store;
  gidNamespace: string;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Called when there are new deliveries. */
  onDeliveries: () => void;
}

const accountsPerRound = 50;

/**
 * Makes deliveries of events, an account at a time and each for one transaction, the accounts in turn: neither a long
 * backlog nor an account that cannot be worked on delays another.
 */
export function createFanOut({ store, gidNamespace, logger, metrics, onDeliveries }: FanOutOptions): Loop {
  let lastAccountId: AccountId | null = null;
  let isWantedAgain = false;

  async function fanOut(accountId: AccountId): Promise<void> {
    const { events, deliveries, failed } = await fanOutAccount(store, gidNamespace, accountId);
    // Nothing, when all of it is in the hands of another worker: that one looks again.
    if (events + failed.length > 0) isWantedAgain = true;
    metrics.eventsFannedOut.inc(events);
    for (const failure of failed) logger.error({ ...failure, alarm: 'event-not-rendered' }, 'event set aside');
    if (deliveries > 0) onDeliveries();
  }

  // Once it has begun with the first account it comes to the last, and begins again if there was reason to meanwhile.
  const loop = createLoop('fan-out', logger, async () => {
    if (lastAccountId === null) isWantedAgain = false;
    const after = lastAccountId;
    const accountIds = await selectAccountsWithQueuedEvents(store, knownEventVersions, after, accountsPerRound);
    lastAccountId = accountIds.length < accountsPerRound ? null : (accountIds.at(-1) ?? null);
    const failures: unknown[] = [];
    for (const accountId of accountIds) await fanOut(accountId).catch((error: unknown) => failures.push(error));
    if (lastAccountId !== null || isWantedAgain) loop.wake();
    if (failures.length > 0) throw new AggregateError(failures, `The events of ${failures.length} accounts wait.`);
  });

  return {
    wake() {
      isWantedAgain = true;
      loop.wake();
    },
    stop: () => loop.stop(),
  };
}
