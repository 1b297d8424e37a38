import { type Database, firstRow, onlyRow, sql } from '@deedwire/store';
import { FencedOutError, type WorkerId } from '../../fence/fence.ts';
import type { AccountId, DeliveryId, SubscriptionId, LaneId, Shard } from '../../kernel/ids.ts';
import { isHome, pgArray, secretColumns } from '../../kernel/sql.ts';
import { cleanLaneState, type LaneState } from '../lane-state.ts';
import { type LaneMarks, markMaxAgeMs } from '../lane-walk.ts';

// webhook_subscription and webhook_pending_delivery by primary key.
const selectLaneStatement = sql('select-lane')`
    select account_id, paused_reason is null and deleted_at is null and ${isHome('s.account_id')} as is_active, deleted_at is not null as is_deleted,
      exists (select from webhook_pending_delivery p where p.subscription_id = s.id) as has_pending
    from webhook_subscription s
    where id = $1`;

export interface StoredLane {
  readonly laneId: LaneId;
  /** Neither paused nor deleted, and its account is at home. */
  readonly isActive: boolean;
  readonly isDeleted: boolean;
  readonly hasPending: boolean;
}

/** Reads the state that decides whether a lane opens or closes. Null if the subscription does not exist. */
export async function selectLane(database: Database, subscriptionId: SubscriptionId): Promise<StoredLane | null> {
  const row = firstRow(
    await database.query<{ account_id: AccountId; is_active: boolean; is_deleted: boolean; has_pending: boolean }>(
      selectLaneStatement,
      [subscriptionId],
    ),
  );
  if (row === null) return null;
  return {
    laneId: { subscriptionId, accountId: row.account_id },
    isActive: row.is_active,
    isDeleted: row.is_deleted,
    hasPending: row.has_pending,
  };
}

// The limits make this one lookup per subscription of the page, however many deliveries it has.
// webhook_subscription_by_shard, webhook_pending_delivery by primary key.
const selectLanesStatement = sql('select-lanes-of-shard', 'in-index-order')`
    with page as (
      select id, account_id, paused_reason,
        (greatest(hastened_at, send_pending_at) > now() - interval '${markMaxAgeMs} milliseconds') is true as may_be_marked
      from webhook_subscription
      where shard = $1 and deleted_at is null and id > $2
      order by id
      limit $3
    )
    select
      coalesce(
        json_agg(json_build_object(
          'subscriptionId', page.id::text, 'accountId', page.account_id::text, 'mayBeMarked', page.may_be_marked
        )) filter (where pending.found), '[]'
      ) as lanes,
      case when count(*) = $3 then max(page.id)::text end as last
    from page
    left join lateral (
      select true as found from webhook_pending_delivery p where p.subscription_id = page.id limit 1
    ) pending on page.paused_reason is null and ${isHome('page.account_id')}`;

export interface LanePage {
  /** Active subscriptions at home of the page with pending deliveries, and whether they have a mark that can still make one due. */
  readonly lanes: readonly (LaneId & { readonly mayBeMarked: boolean })[];
  /** Where the next page starts. Null if there are no further subscriptions. */
  readonly last: SubscriptionId | null;
}

/**
 * Reads the lanes among the next subscriptions of a shard, in the order of their ids.
 *
 * @param after null reads the first page
 * @param limit how many subscriptions to examine
 */
export async function selectLanesOfShard(
  database: Database,
  shard: Shard,
  after: SubscriptionId | null,
  limit: number,
): Promise<LanePage> {
  return onlyRow(await database.query<LanePage>(selectLanesStatement, [shard, after ?? '0', limit]));
}

// webhook_worker, webhook_subscription and webhook_receiver_state by primary key. It does not lock the worker: what was read
// before a takeover is used for seconds only.
const selectTargetsStatement = sql('select-delivery-targets')`
    select worker."isAlive", s.id, s.account_id, s.callback_url, s.url_number, s.timeout_seconds, ${secretColumns('clock_timestamp()')},
      s.request_header_name, s.request_header_ciphertext, s.request_header_origin,
      case when s.rotation_ends_at > clock_timestamp() then round(date_part('epoch', s.rotation_ends_at) * 1000) end
        as "rotationEndsAtMs",
      -- A mark in the future is that of a stolen login, or from before the clock was set back.
      case when s.hastened_at <= clock_timestamp() then round(date_part('epoch', s.hastened_at) * 1000) end as hastened_ms,
      case when s.send_pending_at <= clock_timestamp() then round(date_part('epoch', s.send_pending_at) * 1000) end
        as send_pending_ms,
      r.consecutive_failures, r.breaker_probes,
      round(date_part('epoch', r.breaker_open_until) * 1000) as breaker_open_until_ms,
      round(date_part('epoch', r.hold_until) * 1000) as hold_until_ms,
      round(date_part('epoch', r.failing_since) * 1000) as failing_since_ms,
      round(date_part('epoch', r.last_failure_at) * 1000) as last_failure_ms,
      -- After a pause, it is of the time before.
      case when r.consecutive_failures > 0 then r.last_failed_delivery_id end as last_failed_delivery_id
    from (select exists (select from webhook_worker where id = $1 and alive) as "isAlive") worker
    left join webhook_subscription s
      on worker."isAlive" and s.id = any($2::bigint[]) and s.paused_reason is null and s.deleted_at is null
        and ${isHome('s.account_id')}
    left join webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number`;

type StateRow =
  | { consecutive_failures: null }
  | {
      consecutive_failures: number;
      breaker_probes: number;
      breaker_open_until_ms: number | null;
      hold_until_ms: number | null;
      failing_since_ms: number | null;
      last_failure_ms: number | null;
      last_failed_delivery_id: DeliveryId | null;
    };

type TargetRow = StateRow & {
  id: SubscriptionId;
  account_id: AccountId;
  callback_url: string;
  url_number: number;
  timeout_seconds: number;
  request_header_name: string | null;
  /** Null if the origin is. */
  request_header_ciphertext: Buffer | null;
  request_header_origin: string | null;
  hastened_ms: number | null;
  send_pending_ms: number | null;
} & StoredSecrets;

interface StoredSecrets {
  readonly secretCiphertext: Buffer;
  /** The new secret during a rotation. Null otherwise. */
  readonly nextSecretCiphertext: Buffer | null;
  /** When the new secret becomes the only one. Null outside of a rotation. */
  readonly rotationEndsAtMs: number | null;
}

interface StoredHeader {
  readonly name: string;
  /** Null if the header was dropped. */
  readonly ciphertext: Buffer | null;
  /** The origin of the callback URL for which the value was encrypted. Null as the ciphertext is. */
  readonly origin: string | null;
}

export interface StoredTarget extends StoredSecrets {
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
  readonly callbackUrl: string;
  readonly urlNumber: number;
  readonly timeoutMs: number;
  /** Null if the subscription has none. */
  readonly requestHeader: StoredHeader | null;
  readonly state: LaneState;
  readonly marks: LaneMarks;
}

/** Reads the targets of subscriptions. The result contains none that is paused or deleted, or whose account is not at home. */
export async function selectTargets(
  database: Database,
  workerId: WorkerId,
  subscriptions: readonly SubscriptionId[],
): Promise<StoredTarget[]> {
  // Without a target, one row says whether the worker is alive.
  const rows = await database.query<{ isAlive: boolean } & (TargetRow | { id: null })>(selectTargetsStatement, [
    workerId,
    pgArray(subscriptions),
  ]);
  if (rows[0]?.isAlive !== true) throw new FencedOutError(workerId);
  const targets: StoredTarget[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    targets.push({
      subscriptionId: row.id,
      accountId: row.account_id,
      callbackUrl: row.callback_url,
      urlNumber: row.url_number,
      timeoutMs: row.timeout_seconds * 1_000,
      requestHeader:
        row.request_header_name === null
          ? null
          : {
              name: row.request_header_name,
              ciphertext: row.request_header_ciphertext,
              origin: row.request_header_origin,
            },
      secretCiphertext: row.secretCiphertext,
      nextSecretCiphertext: row.nextSecretCiphertext,
      rotationEndsAtMs: row.rotationEndsAtMs,
      state: toLaneState(row),
      marks: { hastenedAtMs: row.hastened_ms ?? -Infinity, sendPendingAtMs: row.send_pending_ms ?? -Infinity },
    });
  }
  return targets;
}

function toLaneState(row: StateRow): LaneState {
  if (row.consecutive_failures === null) return cleanLaneState;
  return {
    consecutiveFailures: row.consecutive_failures,
    breakerOpenUntilMs: row.breaker_open_until_ms,
    breakerProbes: row.breaker_probes,
    holdUntilMs: row.hold_until_ms,
    failingSinceMs: row.failing_since_ms,
    lastFailureMs: row.last_failure_ms,
    lastFailedDeliveryId: row.last_failed_delivery_id,
  };
}
