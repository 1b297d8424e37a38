import type { Database, Statement } from '@deedwire/store';
import { FencedOutError } from '../../fence/fenced-out-error.ts';
import type { WorkerId } from '../../fence/worker-id.ts';
import type { AccountId, SubscriptionId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/pg-array.ts';
import { cleanLaneState, type LaneState } from '../lane-state.ts';

// webhook_worker, webhook_subscription and webhook_receiver_state by primary key. It does not lock the worker: what was read
// before a takeover is used for seconds only.
const selectTargetsStatement: Statement = {
  name: 'select-delivery-targets',
  text: `
    select worker."isAlive", s.id, s.account_id, s.callback_url, s.url_number, s.secret_ciphertext,
      r.consecutive_failures, r.breaker_probes,
      round(date_part('epoch', r.breaker_open_until) * 1000) as breaker_open_until_ms,
      round(date_part('epoch', r.hold_until) * 1000) as hold_until_ms,
      round(date_part('epoch', r.failing_since) * 1000) as failing_since_ms,
      round(date_part('epoch', r.last_failure_at) * 1000) as last_failure_ms
    from (select exists (select from webhook_worker where id = $1 and alive) as "isAlive") worker
    left join webhook_subscription s
      on worker."isAlive" and s.id = any($2::bigint[]) and s.paused_reason is null and s.deleted_at is null
    left join webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number`,
};

type StateRow =
  | { consecutive_failures: null }
  | {
      consecutive_failures: number;
      breaker_probes: number;
      breaker_open_until_ms: number | null;
      hold_until_ms: number | null;
      failing_since_ms: number | null;
      last_failure_ms: number | null;
    };

type TargetRow = StateRow & {
  id: SubscriptionId;
  account_id: AccountId;
  callback_url: string;
  url_number: number;
  secret_ciphertext: Buffer;
};

export interface StoredTarget {
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
  readonly callbackUrl: string;
  readonly urlNumber: number;
  readonly secretCiphertext: Buffer;
  readonly state: LaneState;
}

/**
 * Reads the targets of subscriptions. The result contains no subscription that is paused or deleted.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
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
      secretCiphertext: row.secret_ciphertext,
      state: toLaneState(row),
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
  };
}
