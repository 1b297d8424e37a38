import type { InterfaceName } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import type { AccountId, SubscriptionId } from '../kernel/ids.ts';
import type { PausedReason } from '../kernel/paused-reasons.ts';

/** An event type and the payload version that a subscription pins. */
export interface EventTypePin {
  type: string;
  version: string;
}

/** The part of an account's subscriptions that fan-out needs. */
export interface AccountPins {
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly subscriptions: readonly SubscriptionPins[];
}

export interface SubscriptionPins {
  readonly id: SubscriptionId;
  /** It receives the events with a higher position in the queue. */
  readonly queuePosition: number;
  /** Null while the subscription is active. */
  readonly pausedReason: PausedReason | null;
  /** Its deliveries are never sent. */
  readonly isListener: boolean;
  /** The pinned version of each event type. */
  readonly versions: ReadonlyMap<string, string>;
}

interface Row {
  accountId: AccountId;
  interfaceName: InterfaceName;
  id: SubscriptionId;
  queuePosition: string;
  pausedReason: PausedReason | null;
  isListener: boolean;
  versions: Record<string, string>;
}

/**
 * Reads the subscriptions of accounts in the order of their ids, except deleted ones. The result does not contain accounts
 * without subscriptions. Served by webhook_subscription_by_account and webhook_subscription_event_type_pkey.
 */
export async function readPins(
  database: Database,
  accounts: readonly AccountId[],
): Promise<Map<AccountId, AccountPins>> {
  const statement = sql('read-pins')`
      select s.account_id as "accountId", s.interface as "interfaceName", s.id, s.queue_position as "queuePosition",
        s.paused_reason as "pausedReason", s.kind = 'LISTENER' as "isListener",
        (
          select coalesce(json_object_agg(t.event_type, t.event_version), '{}')
          from webhook_subscription_event_type t
          where t.subscription_id = s.id
        ) as versions
      from webhook_subscription s
      where s.account_id = any ($1::bigint[]) and s.deleted_at is null
      order by s.account_id, s.id`;
  const rows = await database.query<Row>(statement, [accounts]);
  const byAccount = Map.groupBy(rows, ({ accountId }) => accountId);
  return new Map(
    Array.from(byAccount, ([accountId, ofAccount]) => [accountId, toAccountPins(accountId, ofAccount)] as const),
  );
}

function toAccountPins(accountId: AccountId, rows: readonly Row[]): AccountPins {
  const [first] = rows;
  if (first === undefined) throw new Error(`Account ${accountId} has no subscription.`);
  return {
    accountId,
    interfaceName: first.interfaceName,
    subscriptions: rows.map(({ id, queuePosition, pausedReason, isListener, versions }) => ({
      id,
      queuePosition: Number(queuePosition),
      pausedReason,
      isListener,
      versions: new Map(Object.entries(versions)),
    })),
  };
}
