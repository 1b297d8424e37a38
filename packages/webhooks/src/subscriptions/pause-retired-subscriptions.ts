import { type Transaction, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../fence/fence.ts';
import { type AccountId, type SubscriptionId, shardOf } from '../kernel/ids.ts';
import { isHome, rememberedOwnerPause } from '../kernel/sql.ts';
import type { EventTypePin } from './read-pins.ts';

export interface PausedSubscription {
  id: SubscriptionId;
  accountId: AccountId;
}

/**
 * Pauses subscriptions that pin a retired version, and appends their changes to the queue. Includes subscriptions that are
 * paused for another reason: under that one, fan-out would wait for a build that knows the version. A pause by the owner is
 * remembered.
 *
 * Skips subscriptions that another transaction has locked. Served by webhook_subscription_event_type_by_version and
 * webhook_subscription_pkey.
 *
 * @returns at most `limit` subscriptions. Call again while it returns that many.
 */
export async function pauseRetiredSubscriptions(
  transaction: Transaction,
  workerId: WorkerId,
  versions: readonly EventTypePin[],
  limit: number,
): Promise<PausedSubscription[]> {
  const statement = sql('pause-retired-subscriptions')`
      with ${liveWorker},
        retired as (
          select s.id
          from worker
          cross join webhook_subscription s
          where s.id = any (array(
              select distinct t.subscription_id
              from unnest($2::text[], $3::text[]) as v (event_type, event_version)
              join webhook_subscription_event_type t on t.event_type = v.event_type and t.event_version = v.event_version
              join webhook_subscription p on p.id = t.subscription_id
              where p.deleted_at is null and p.paused_reason is distinct from 'VERSION_RETIRED' and ${isHome('p.account_id')}
              limit $4
            ))
            and s.deleted_at is null and s.paused_reason is distinct from 'VERSION_RETIRED'
          order by s.id
          for no key update of s skip locked
        ),
        paused as (
          update webhook_subscription s
          set paused_reason = 'VERSION_RETIRED', paused_at = coalesce(s.paused_at, now()), ${rememberedOwnerPause}
          from retired
          where s.id = retired.id
          returning s.id, s.account_id, s.interface
        ),
        change as (
          insert into webhook_event_queue (account_id, interface, subscription_id)
          select account_id, interface, id
          from paused
        )
      select exists (select from worker) as "isAlive",
        (
          select coalesce(json_agg(json_build_object('id', id::text, 'accountId', account_id::text) order by id), '[]')
          from paused
        ) as paused`;
  const rows = await transaction.query<{ isAlive: boolean; paused: PausedSubscription[] }>(statement, [
    workerId,
    versions.map(({ type }) => type),
    versions.map(({ version }) => version),
    limit,
  ]);
  const { paused } = rowOfLiveWorker(rows, workerId);
  for (const { accountId } of paused) transaction.notifyAfterCommit(String(shardOf(accountId)));
  return paused;
}
