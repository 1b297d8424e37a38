import { cancelReplay, insertReplay, type ReplayRow, selectReplay } from '@deedwire/actions/webhooks';
import type { AccountId, RecordId } from '@deedwire/core';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { interfaceName } from '../delivery/ours/engine-tables.ts';
import { fillHistory } from '../delivery/ours/fill-history.ts';
import { createOurSystem, type OurSystem, until } from '../delivery/ours/our-system.ts';
import { type BenchPostgres, createBenchStore } from '../postgres.ts';
import type { Defer } from '../with-cleanup.ts';

/** The most that the API accepts as `maxPerSecond`. */
const perSecond = 500;

/** Deliveries of the only subscription of an account, by their ids: the first one included, the last one not. */
interface DeliveryRange {
  subscriptionId: RecordId<'WebhookSubscription'>;
  fromId: string;
  untilId: string;
}

const markFailed = {
  name: 'bench-mark-failed',
  text: `
    with newest as (
      select id, subscription_id, sequence
      from webhook_delivery
      where subscription_id = (select id from webhook_subscription where account_id = $1)
      order by id desc
      limit $2
    ), failed as (
      insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
      select subscription_id, id, '${interfaceName}' from newest where sequence % $3 = 0
      on conflict do nothing
    )
    select subscription_id as "subscriptionId", min(id)::text as "fromId", (max(id) + 1)::text as "untilId"
    from newest
    group by subscription_id`,
};

/** Replays of our engine. Each account has one subscription. */
export function createOurReplays({ databaseUrl }: OurSystem, defer: Defer) {
  const store = createBenchStore(databaseUrl);
  defer(() => store.close());
  const read = async (account: AccountId, id: ReplayRow['id']): Promise<ReplayRow> => {
    const row = await selectReplay(store, account, id);
    if (row === null) throw new Error(`There is no replay ${id}.`);
    return row;
  };
  return {
    /** Makes every `step`th of the newest deliveries count as failed. Returns the range of all of them. */
    async markFailed(
      account: AccountId,
      { deliveries, step }: { deliveries: number; step: number },
    ): Promise<DeliveryRange> {
      const values = [account, deliveries, step];
      const [range] = await store.query<DeliveryRange & Record<string, unknown>>(markFailed, values);
      if (range === undefined) throw new Error('The account has no deliveries.');
      return range;
    },

    /** Asks the worker to replay a range, as an API does. */
    async start(accountId: AccountId, { subscriptionId, ...ids }: DeliveryRange, onlyFailed: boolean) {
      const target = { accountId, interfaceName, subscriptionId } as const;
      const all = { eventTypes: null, since: null, until: null, fromSequence: null, untilSequence: null };
      const replay = { ...target, range: { onlyFailed, ...all }, ids, perSecond };
      const id = await store.transaction(async (transaction) => {
        const inserted = await insertReplay(transaction, replay);
        if (inserted === null) throw new Error('A replay of the subscription is in progress.');
        await appendSubscriptionChange(transaction, target);
        return inserted;
      });
      return {
        queued: async () => (await read(accountId, id)).queued,
        /** Resolves when it has ended, with the number of deliveries that it has queued. */
        async ended(): Promise<number> {
          await until(async () => (await read(accountId, id)).endedAt !== null, 'The replay does not end.');
          return (await read(accountId, id)).queued;
        },
        cancel: () => store.transaction((transaction) => cancelReplay(transaction, accountId, id)),
      };
    },
  };
}

export type History = Awaited<ReturnType<typeof createHistories>>[number];

/** Creates a database with stored deliveries of one subscription for each number of deliveries. */
export async function createHistories(
  postgres: BenchPostgres,
  defer: Defer,
  sizes: readonly number[],
  { callbackUrl, progress }: { callbackUrl: string; progress: (line: string) => void },
) {
  const histories: { storedDeliveries: number; system: OurSystem; account: AccountId }[] = [];
  for (const storedDeliveries of sizes) {
    const system = await createOurSystem(postgres, `history_${histories.length + 1}`, defer);
    const account = await system.addAccount([callbackUrl]);
    await fillHistory(system.databaseUrl, storedDeliveries, progress);
    histories.push({ storedDeliveries, system, account });
  }
  return histories;
}
