import type { AccountId, InterfaceName } from '@deedwire/core';
import {
  type Database,
  firstRow,
  onlyRow,
  pageConditions,
  type PageQuery,
  type Transaction,
  sql,
} from '@deedwire/store';
import { appendSubscriptionChange, workerOf } from '@deedwire/webhooks/outbox';
import {
  markTime,
  mayBeMarked,
  type SubscriptionId,
  secretColumns,
  type EventTypePin,
  type PausedReason,
} from '@deedwire/webhooks/tables';

// A listener is a row of webhook_subscription too: see listeners.ts. The statements of this file leave listeners out.

/** The account of a subscription. */
export interface SubscriptionOwner {
  accountId: AccountId;
  interfaceName: InterfaceName;
}

/** A request header whose value is encrypted for one origin. */
export interface StoredHeader {
  name: string;
  /** Null if the callback URL has moved to another origin. */
  ciphertext: Buffer | null;
  /** Null as the ciphertext is. */
  origin: string | null;
}

export interface SubscriptionRow extends SubscriptionOwner {
  id: SubscriptionId;
  /** Null if its owner has given it none. */
  name: string | null;
  callbackUrl: string;
  secretCiphertext: Buffer;
  /** The rotation that has not ended. Null if there is none. */
  rotation: { nextSecretCiphertext: Buffer; startedAt: Date; endsAt: Date } | null;
  /** How long a worker waits for the response to a delivery. */
  timeoutSeconds: number;
  /** Null if it has none. */
  requestHeader: StoredHeader | null;
  /** Null while the subscription is active. So is `pausedAt`. */
  pausedReason: PausedReason | null;
  pausedAt: Date | null;
  /** When its owner has paused it too, or an operator for its owner. Null if neither has, or if `OWNER` is the only reason. */
  ownerPausedAt: Date | null;
  createdAt: Date;
  /** Ordered by type. */
  eventTypes: EventTypePin[];
}

type StoredSubscription = Omit<SubscriptionRow, 'requestHeader' | 'rotation'> & {
  headerName: string | null;
  headerCiphertext: Buffer | null;
  headerOrigin: string | null;
} & (
    | { nextSecretCiphertext: Buffer; rotationStartedAt: Date; rotationEndsAt: Date }
    | { nextSecretCiphertext: null; rotationStartedAt: null; rotationEndsAt: null }
  );

/** The columns of `StoredSubscription`, from `webhook_subscription s`. */
const subscriptionColumns = `
  s.id, s.account_id as "accountId", s.interface as "interfaceName", s.name, s.callback_url as "callbackUrl",
  s.timeout_seconds as "timeoutSeconds", s.request_header_name as "headerName",
  s.request_header_ciphertext as "headerCiphertext", s.request_header_origin as "headerOrigin", s.paused_reason as "pausedReason", s.paused_at as "pausedAt", s.owner_paused_at as "ownerPausedAt", s.created_at as "createdAt", ${secretColumns('now()')},
  case when s.rotation_ends_at > now() then s.rotation_started_at end as "rotationStartedAt",
  case when s.rotation_ends_at > now() then s.rotation_ends_at end as "rotationEndsAt",
  (
    select coalesce(json_agg(json_build_object('type', t.event_type, 'version', t.event_version) order by t.event_type), '[]')
    from webhook_subscription_event_type t
    where t.subscription_id = s.id
  ) as "eventTypes"`;

function toSubscriptionRow(stored: StoredSubscription): SubscriptionRow {
  const { headerName, headerCiphertext, headerOrigin, ...others } = stored;
  const { nextSecretCiphertext, rotationStartedAt, rotationEndsAt, ...row } = others;
  const requestHeader =
    headerName === null ? null : { name: headerName, ciphertext: headerCiphertext, origin: headerOrigin };
  if (nextSecretCiphertext === null) return { ...row, requestHeader, rotation: null };
  const rotation = { nextSecretCiphertext, startedAt: rotationStartedAt, endsAt: rotationEndsAt };
  return { ...row, requestHeader, rotation };
}

/**
 * Returns null if the account has no such subscription, or has deleted it.
 *
 * @param accountId null for any account
 */
export async function selectSubscription(
  database: Database,
  accountId: AccountId | null,
  id: SubscriptionId,
): Promise<SubscriptionRow | null> {
  return firstRow(await selectSubscriptionsById(database, accountId, [id]));
}

/**
 * In any order, without those of another account and deleted ones. Served by webhook_subscription_pkey.
 *
 * @param accountId null for any account
 */
export async function selectSubscriptionsById(
  database: Database,
  accountId: AccountId | null,
  ids: readonly SubscriptionId[],
): Promise<SubscriptionRow[]> {
  const statement = sql('select-subscriptions-by-id')`
      select ${subscriptionColumns}
      from webhook_subscription s
      where s.id = any ($2::bigint[]) and s.account_id = coalesce($1, s.account_id) and s.kind = 'PUSH'
        and s.deleted_at is null`;
  return (await database.query<StoredSubscription>(statement, [accountId, ids])).map(toSubscriptionRow);
}

/** A filter that is null does not restrict the list. */
export interface SubscriptionsFilter {
  accountId: AccountId | null;
  /** `DISRUPTED`: active ones about which owners got `webhook_subscription.disrupted`, and no `recovered` since. */
  status: 'ACTIVE' | 'PAUSED' | 'DISRUPTED' | null;
}

const ofStatus: Record<NonNullable<SubscriptionsFilter['status']>, string> = {
  ACTIVE: 'and s.paused_at is null',
  PAUSED: 'and s.paused_at is not null',
  DISRUPTED: `and s.paused_at is null and exists (
          select from webhook_subscription_episode e where e.subscription_id = s.id and e.state <> 'HEALTHY'
        )`,
};

/**
 * Newest first, without deleted ones. Served by webhook_subscription_by_account, or webhook_subscription_pkey for those of all
 * accounts. Reads those of another status too.
 */
export async function selectSubscriptions(
  database: Database,
  { accountId, status }: SubscriptionsFilter,
  page: PageQuery<'WebhookSubscription'>,
): Promise<SubscriptionRow[]> {
  const name = `select-subscriptions${status === null ? '' : `-${status.toLowerCase()}`}`;
  const { scope, conditions, values } = pageConditions(['s.account_id', accountId], 's.id', page);
  const statement = sql(name + scope, accountId === null || status !== null ? 'in-index-order' : undefined)`
      select ${subscriptionColumns}
      from webhook_subscription s
      where s.kind = 'PUSH' and s.deleted_at is null ${status === null ? '' : ofStatus[status]} and ${conditions}
      limit $2`;
  return (await database.query<StoredSubscription>(statement, values)).map(toSubscriptionRow);
}

/** What is stored about a subscription beside its settings. */
export interface SubscriptionState {
  /** The sequence of the last delivery. 0 if there is none. */
  lastSequence: string;
  /** At most `countMax`. Includes expired ones. */
  failedDeliveries: number;
  /** Until when the receiver asked for no request. Null if no attempt has failed since the last success. */
  holdUntil: Date | null;
}

/**
 * Null for a deleted subscription. Served by the primary keys of all tables.
 *
 * @param countMax counting ends there
 */
export async function selectSubscriptionState(
  database: Database,
  id: SubscriptionId,
  countMax: number,
): Promise<SubscriptionState | null> {
  const statement = sql('select-subscription-state')`
      select coalesce(q.last_sequence, 0) as "lastSequence",
        (
          select count(*)::int
          from (select from webhook_failed_delivery where subscription_id = s.id limit $2) counted
        ) as "failedDeliveries",
        r.hold_until as "holdUntil"
      from webhook_subscription s
      left join webhook_subscription_sequence q on q.subscription_id = s.id
      left join webhook_receiver_state r
        on r.subscription_id = s.id and r.url_number = s.url_number and r.consecutive_failures > 0
      where s.id = $1 and s.kind = 'PUSH' and s.deleted_at is null`;
  return firstRow(await database.query<SubscriptionState>(statement, [id, countMax]));
}

/** A subscription that is sent, or a listener. */
export type SubscriptionKind = 'PUSH' | 'LISTENER';

/** Looks in all accounts, for operators. Null for a deleted subscription. Served by webhook_subscription_pkey. */
export async function selectSubscriptionOwner(
  database: Database,
  id: SubscriptionId,
  kind: SubscriptionKind = 'PUSH',
): Promise<SubscriptionOwner | null> {
  const statement = sql('select-subscription-owner')`
      select account_id as "accountId", interface as "interfaceName"
      from webhook_subscription
      where id = $1 and kind = $2 and deleted_at is null`;
  return firstRow(await database.query<SubscriptionOwner>(statement, [id, kind]));
}

/** Does not count deleted subscriptions. Served by webhook_subscription_by_account. */
export async function countSubscriptions(
  database: Database,
  accountId: AccountId,
  kind: SubscriptionKind = 'PUSH',
): Promise<number> {
  const statement = sql('count-subscriptions')`
      select count(*)::int as count
      from webhook_subscription
      where account_id = $1 and kind = $2 and deleted_at is null`;
  return onlyRow(await database.query<{ count: number }>(statement, [accountId, kind])).count;
}

export interface LockedSubscription {
  id: SubscriptionId;
  callbackUrl: string;
  pausedReason: PausedReason | null;
}

/**
 * Locks a subscription until the transaction ends. Returns null if the account has no such subscription, or has deleted it.
 * Served by webhook_subscription_pkey.
 *
 * A worker that pauses the subscription waits for the lock: do not call a receiver while you hold it.
 */
export async function lockSubscription(
  transaction: Transaction,
  accountId: AccountId,
  id: SubscriptionId,
): Promise<LockedSubscription | null> {
  const statement = sql('lock-subscription')`
      select id, callback_url as "callbackUrl", paused_reason as "pausedReason"
      from webhook_subscription
      where id = $2 and account_id = $1 and kind = 'PUSH' and deleted_at is null
      for no key update`;
  return firstRow(await transaction.query<LockedSubscription>(statement, [accountId, id]));
}

/**
 * Serializes the creation of subscriptions of an account until the transaction ends, so that their limit holds. Uses an
 * advisory lock, because an API may not lock rows of accounts.
 */
export async function lockSubscriptionsOfAccount(transaction: Transaction, accountId: AccountId): Promise<void> {
  const statement = sql(
    'lock-subscriptions-of-account',
  )`select pg_advisory_xact_lock(hashtextextended('webhook-subscriptions:' || $1::text, 0))`;
  await transaction.query(statement, [accountId]);
}

/**
 * Returns the id of the next subscription. The insert needs it, because the secret is encrypted with the id as associated
 * data.
 */
export async function reserveSubscriptionId(database: Database): Promise<SubscriptionId> {
  const statement = sql('reserve-subscription-id')`select new_record_id() as id`;
  return onlyRow(await database.query<{ id: SubscriptionId }>(statement, [])).id;
}

/** Inserts a subscription without event types. It receives the events that are appended from now on. */
export async function insertSubscription(
  transaction: Transaction,
  subscription: {
    id: SubscriptionId;
    accountId: AccountId;
    interfaceName: InterfaceName;
    name: string | null;
    callbackUrl: string;
    secretCiphertext: Buffer;
    timeoutSeconds: number;
    requestHeader: StoredHeader | null;
  },
): Promise<void> {
  const statement = sql('insert-subscription')`
      with subscription as (
        insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, name, timeout_seconds,
          request_header_name, request_header_ciphertext, request_header_origin, queue_position)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, nextval('webhook_queue_position'))
        returning id, interface
      )
      insert into webhook_subscription_sequence (subscription_id, interface)
      select id, interface
      from subscription`;
  const { id, accountId, interfaceName, callbackUrl, secretCiphertext, name, timeoutSeconds } = subscription;
  const header = headerValues(subscription.requestHeader);
  const values = [id, accountId, interfaceName, callbackUrl, secretCiphertext, name, timeoutSeconds, ...header];
  await transaction.query(statement, values);
  await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
}

/**
 * Sets the callback URL. A new URL gets a new number, so that the state of the previous receiver no longer applies. Served
 * by webhook_subscription_pkey.
 */
export async function updateSubscriptionUrl(
  transaction: Transaction,
  id: SubscriptionId,
  callbackUrl: string,
): Promise<void> {
  const statement = sql('update-subscription-url')`
      update webhook_subscription
      set callback_url = $2, url_number = url_number + 1
      where id = $1 and callback_url <> $2`;
  await transaction.query(statement, [id, callbackUrl]);
}

/** Served by webhook_subscription_pkey. */
export async function updateSubscriptionName(
  transaction: Transaction,
  id: SubscriptionId,
  name: string | null,
): Promise<void> {
  const statement = sql('update-subscription-name')`update webhook_subscription set name = $2 where id = $1`;
  await transaction.query(statement, [id, name]);
}

/** Served by webhook_subscription_pkey. */
export async function updateSubscriptionTimeout(
  transaction: Transaction,
  id: SubscriptionId,
  timeoutSeconds: number,
): Promise<void> {
  const statement = sql(
    'update-subscription-timeout',
  )`update webhook_subscription set timeout_seconds = $2 where id = $1`;
  await transaction.query(statement, [id, timeoutSeconds]);
}

function headerValues(header: StoredHeader | null): unknown[] {
  return [header?.name ?? null, header?.ciphertext ?? null, header?.origin ?? null];
}

/** Null removes the header. Served by webhook_subscription_pkey. */
export async function updateSubscriptionHeader(
  transaction: Transaction,
  id: SubscriptionId,
  header: StoredHeader | null,
): Promise<void> {
  const statement = sql('update-subscription-header')`
      update webhook_subscription
      set request_header_name = $2, request_header_ciphertext = $3, request_header_origin = $4
      where id = $1`;
  await transaction.query(statement, [id, ...headerValues(header)]);
}

/**
 * Erases the value of a header, and keeps its name, so that its owner sees that it is not sent. Served by webhook_subscription_pkey.
 *
 * @returns false if there is no value
 */
export async function dropSubscriptionHeader(transaction: Transaction, id: SubscriptionId): Promise<boolean> {
  const statement = sql('drop-subscription-header')`
      update webhook_subscription
      set request_header_ciphertext = null, request_header_origin = null
      where id = $1 and request_header_ciphertext is not null
      returning id`;
  return (await transaction.query(statement, [id])).length === 1;
}

/** Whether no worker of an earlier release runs, which sends no request headers. webhook_worker has one row for each process. */
export async function selectWhetherHeadersAreSent(database: Database): Promise<boolean> {
  const statement = sql('select-whether-headers-are-sent')`select webhook_sends_request_headers() as "areSent"`;
  return onlyRow(await database.query<{ areSent: boolean }>(statement, [])).areSent;
}

/**
 * Pauses a subscription by its owner, or by an operator for its owner. A stronger reason remains the one that is shown. Served by
 * webhook_subscription_pkey.
 *
 * @returns false if one of them has already paused it
 */
export async function pauseSubscriptionByOwner(
  transaction: Transaction,
  id: SubscriptionId,
  reason: 'OWNER' | 'OPERATOR',
): Promise<boolean> {
  const statement = sql('pause-subscription-by-owner')`
      update webhook_subscription
      set paused_reason = coalesce(paused_reason, $2), paused_at = coalesce(paused_at, now()), owner_paused_at = now()
      where id = $1 and (paused_reason is null or (paused_reason <> 'OWNER' and owner_paused_at is null))
      returning id`;
  return (await transaction.query(statement, [id, reason])).length === 1;
}

/**
 * Ends the reason for which a subscription is paused. If its owner has paused it too, it stays paused with `OWNER`, unless the
 * owner resumes it. Its URL gets a new number, so that the receiver starts without earlier failures, and requests from before
 * the pause cannot pause it again. Pending deliveries whose receiver failed are due, at most once an hour. Served by
 * webhook_subscription_pkey.
 */
export async function resumeSubscription(
  transaction: Transaction,
  id: SubscriptionId,
  { byOwner }: { byOwner: boolean },
): Promise<void> {
  const statement = sql('resume-subscription')`
      update webhook_subscription s
      set paused_reason = case when not $2 and owner_paused_at is not null then 'OWNER' end,
        paused_at = case when not $2 then owner_paused_at end,
        owner_paused_at = case when not $2 then owner_paused_at end,
        url_number = url_number + 1,
        hastened_at = case when ${mayBeMarked('hastened_at', '1 hour')} then ${markTime} else s.hastened_at end
      where id = $1`;
  await transaction.query(statement, [id, byOwner]);
}

/**
 * Makes deliveries due whose last attempt began before now. Served by webhook_subscription_pkey.
 *
 * @returns false if it was done within the last minute
 */
export async function markSendPending(transaction: Transaction, id: SubscriptionId): Promise<boolean> {
  const statement = sql('mark-send-pending')`
      update webhook_subscription s
      set send_pending_at = ${markTime}
      where id = $1 and ${mayBeMarked('send_pending_at', '1 minute')}
      returning id`;
  return (await transaction.query(statement, [id])).length === 1;
}

/**
 * Hides a subscription from every interface and erases its URL and its secrets. Its worker deletes the pending deliveries
 * and the receiver state. Served by webhook_subscription_pkey.
 */
export async function markSubscriptionDeleted(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = sql('mark-subscription-deleted')`
      update webhook_subscription
      set deleted_at = now(), name = null, callback_url = '', secret_ciphertext = '', next_secret_ciphertext = null,
        rotation_started_at = null, rotation_ends_at = null
      where id = $1`;
  await transaction.query(statement, [id]);
}

/**
 * Deletes a subscription of any account, for operators. Write the entry of the audit log in the same transaction.
 *
 * @returns false if there is no such subscription
 */
export async function deleteSubscription(
  transaction: Transaction,
  { accountId }: SubscriptionOwner,
  id: SubscriptionId,
): Promise<boolean> {
  const statement = sql('delete-subscription')`select webhook_delete_subscription($1) as "isDeleted"`;
  const { isDeleted } = onlyRow(await transaction.query<{ isDeleted: boolean }>(statement, [id]));
  if (isDeleted) transaction.notifyAfterCommit(workerOf(accountId));
  return isDeleted;
}

export async function insertEventTypePins(
  transaction: Transaction,
  subscription: { id: SubscriptionId; interfaceName: InterfaceName },
  pins: readonly EventTypePin[],
): Promise<void> {
  const statement = sql('insert-event-type-pins')`
      insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
      select $1, $2, t.event_type, t.event_version
      from unnest($3::text[], $4::text[]) as t (event_type, event_version)`;
  await transaction.query(statement, [
    subscription.id,
    subscription.interfaceName,
    pins.map(({ type }) => type),
    pins.map(({ version }) => version),
  ]);
}

/** Served by webhook_subscription_event_type_pkey. */
export async function deleteEventTypePins(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = sql(
    'delete-event-type-pins',
  )`delete from webhook_subscription_event_type where subscription_id = $1`;
  await transaction.query(statement, [id]);
}

// webhook_handshake_count has a row for each account and minute, with the counts of all limits: the first was that of handshakes.

/**
 * Counts a handshake or a test event of an account in the current minute. Count a test event in the transaction that inserts it.
 *
 * @returns their number in this minute, including this one
 */
export async function countInMinute(
  database: Database,
  what: 'handshakes' | 'test_events',
  { accountId, interfaceName }: SubscriptionOwner,
): Promise<number> {
  const statement = sql(`count-${what}`)`
      insert into webhook_handshake_count as c (account_id, interface, minute, handshakes, test_events)
      values ($1, $2, date_trunc('minute', now()), ${what === 'handshakes' ? '1, 0' : '0, 1'})
      on conflict (account_id, minute) do update set ${what} = c.${what} + 1
      returning ${what} as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [accountId, interfaceName])).count;
}

/** Deletes the counts of previous minutes, of all limits. Served by webhook_handshake_count_pkey. */
export async function deleteOldLimitCounts(database: Database, accountId: AccountId): Promise<void> {
  const statement = sql(
    'delete-old-limit-counts',
  )`delete from webhook_handshake_count where account_id = $1 and minute < date_trunc('minute', now())`;
  await database.query(statement, [accountId]);
}
