import type { Database, Statement } from '@deedwire/store';
import type { AccountId, SubscriptionId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/pg-array.ts';
import { cleanLaneState, type LaneState } from '../lane-state.ts';

// webhook_subscription and webhook_receiver_state by primary key.
const selectTargetsStatement: Statement = {
  name: 'select-delivery-targets',
  text: `
    select s.id, s.account_id, s.callback_url, s.url_number, s.secret_ciphertext,
      r.consecutive_failures, r.breaker_probes,
      round(date_part('epoch', r.breaker_open_until) * 1000) as breaker_open_until_ms,
      round(date_part('epoch', r.hold_until) * 1000) as hold_until_ms,
      round(date_part('epoch', r.failing_since) * 1000) as failing_since_ms,
      round(date_part('epoch', r.last_failure_at) * 1000) as last_failure_ms
    from webhook_subscription s
    left join webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number
    where s.id = any($1::bigint[]) and s.paused_reason is null and s.deleted_at is null`,
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

/** Reads the targets of subscriptions. The result contains no subscription that is paused or deleted. */
export async function selectTargets(
  database: Database,
  subscriptions: readonly SubscriptionId[],
): Promise<StoredTarget[]> {
  const rows = await database.query<TargetRow>(selectTargetsStatement, [pgArray(subscriptions)]);
  return rows.map((row) => ({
    subscriptionId: row.id,
    accountId: row.account_id,
    callbackUrl: row.callback_url,
    urlNumber: row.url_number,
    secretCiphertext: row.secret_ciphertext,
    state: toLaneState(row),
  }));
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
