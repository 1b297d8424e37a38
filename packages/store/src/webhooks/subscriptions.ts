import type { AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import { keysetConditions, type PageQuery } from '../page-query.ts';
import { firstRow, onlyRow, type Database, type Transaction } from '../store.ts';

export type PausedReason = 'OWNER' | 'GONE' | 'FAILING' | 'VERSION_RETIRED';

export interface SubscriptionEventTypeRow {
  type: string;
  version: string;
}

export interface SubscriptionRow {
  id: RecordId<'WebhookSubscription'>;
  callbackUrl: string;
  secretCiphertext: Buffer;
  pausedReason: PausedReason | null;
  pausedAt: Date | null;
  createdAt: Date;
  /** Ordered by type. */
  eventTypes: SubscriptionEventTypeRow[];
}

const columns = `
  s.id, s.callback_url as "callbackUrl", s.secret_ciphertext as "secretCiphertext", s.paused_reason as "pausedReason",
  s.paused_at as "pausedAt", s.created_at as "createdAt",
  (
    select coalesce(json_agg(json_build_object('type', t.event_type, 'version', t.event_version) order by t.event_type), '[]')
    from webhook_subscription_event_type t
    where t.subscription_id = s.id
  ) as "eventTypes"`;

/** Ignores deleted subscriptions. Served by webhook_subscription_pkey. */
export async function selectSubscription(
  database: Database,
  accountId: AccountId,
  id: RecordId<'WebhookSubscription'>,
): Promise<SubscriptionRow | null> {
  const statement = {
    name: 'select-subscription',
    text: `
      select ${columns}
      from webhook_subscription s
      where s.id = $2 and s.account_id = $1 and s.deleted_at is null`,
  };
  return firstRow(await database.query<SubscriptionRow>(statement, [accountId, id]));
}

/** Newest first. Served by webhook_subscription_by_account. */
export async function selectSubscriptions(
  database: Database,
  accountId: AccountId,
  page: PageQuery<'WebhookSubscription'>,
): Promise<SubscriptionRow[]> {
  const statement = {
    name: 'select-subscriptions',
    text: `
      select ${columns}
      from webhook_subscription s
      where s.deleted_at is null and ${keysetConditions(['s.account_id', '$1'], 's.id', '$2')}
      limit $3`,
  };
  return database.query<SubscriptionRow>(statement, [accountId, page.afterId, page.limit]);
}

/** Of any account, for operators. Ignores deleted subscriptions. Served by webhook_subscription_pkey. */
export async function subscriptionExists(database: Database, id: RecordId<'WebhookSubscription'>): Promise<boolean> {
  const statement = {
    name: 'subscription-exists',
    text: 'select id from webhook_subscription where id = $1 and deleted_at is null',
  };
  return (await database.query(statement, [id])).length === 1;
}

/** Served by webhook_subscription_by_account. */
export async function countSubscriptions(database: Database, accountId: AccountId): Promise<number> {
  const statement = {
    name: 'count-subscriptions',
    text: 'select count(*)::int as count from webhook_subscription where account_id = $1 and deleted_at is null',
  };
  return onlyRow(await database.query<{ count: number }>(statement, [accountId])).count;
}

/**
 * Serializes the creation of subscriptions of an account, so that the limit holds. An advisory lock, because an API has no right
 * to lock rows of accounts.
 */
export async function lockSubscriptionsOfAccount(database: Database, accountId: AccountId): Promise<void> {
  const statement = {
    name: 'lock-subscriptions-of-account',
    text: `select pg_advisory_xact_lock(hashtextextended('webhook-subscriptions:' || $1::text, 0))`,
  };
  await database.query(statement, [accountId]);
}

/** The id of the next subscription. Its secret is encrypted with the id as associated data, so the insert needs it. */
export async function reserveSubscriptionId(database: Database): Promise<RecordId<'WebhookSubscription'>> {
  const statement = {
    name: 'reserve-subscription-id',
    text: 'select new_record_id() as id',
  };
  return onlyRow(await database.query<{ id: RecordId<'WebhookSubscription'> }>(statement, [])).id;
}

export async function insertSubscription(
  database: Database,
  subscription: {
    id: RecordId<'WebhookSubscription'>;
    accountId: AccountId;
    interfaceName: InterfaceName;
    callbackUrl: string;
    secretCiphertext: Buffer;
  },
): Promise<void> {
  const statement = {
    name: 'insert-subscription',
    text: `
      with inserted as (
        insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext)
        values ($1, $2, $3, $4, $5)
        returning id, interface
      )
      insert into webhook_lane (subscription_id, interface)
      select id, interface
      from inserted`,
  };
  await database.query(statement, [
    subscription.id,
    subscription.accountId,
    subscription.interfaceName,
    subscription.callbackUrl,
    subscription.secretCiphertext,
  ]);
}

/** Served by webhook_subscription_event_type_pkey. */
export async function deleteSubscriptionEventTypes(
  transaction: Transaction,
  subscriptionId: RecordId<'WebhookSubscription'>,
): Promise<void> {
  const statement = {
    name: 'delete-subscription-event-types',
    text: 'delete from webhook_subscription_event_type where subscription_id = $1',
  };
  await transaction.query(statement, [subscriptionId]);
  transaction.notifyAfterCommit();
}

export async function insertSubscriptionEventTypes(
  database: Database,
  subscription: { id: RecordId<'WebhookSubscription'>; interfaceName: InterfaceName },
  eventTypes: readonly SubscriptionEventTypeRow[],
): Promise<void> {
  const statement = {
    name: 'insert-subscription-event-types',
    text: `
      insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
      select $1, $2, t.event_type, t.event_version
      from unnest($3::text[], $4::text[]) as t (event_type, event_version)`,
  };
  await database.query(statement, [
    subscription.id,
    subscription.interfaceName,
    eventTypes.map(({ type }) => type),
    eventTypes.map(({ version }) => version),
  ]);
}

/** Locks a subscription until the transaction ends. Lock its lane first. Served by webhook_subscription_pkey. */
export async function lockSubscription(
  database: Database,
  accountId: AccountId,
  id: RecordId<'WebhookSubscription'>,
): Promise<{ id: RecordId<'WebhookSubscription'>; pausedReason: PausedReason | null } | null> {
  const statement = {
    name: 'lock-subscription',
    text: `
      select id, paused_reason as "pausedReason"
      from webhook_subscription
      where id = $2 and account_id = $1 and deleted_at is null
      for no key update`,
  };
  return firstRow(
    await database.query<{ id: RecordId<'WebhookSubscription'>; pausedReason: PausedReason | null }>(statement, [
      accountId,
      id,
    ]),
  );
}

/** Served by webhook_subscription_pkey. */
export async function updateSubscriptionUrl(
  transaction: Transaction,
  id: RecordId<'WebhookSubscription'>,
  callbackUrl: string,
): Promise<void> {
  const statement = {
    name: 'update-subscription-url',
    text: 'update webhook_subscription set callback_url = $2 where id = $1',
  };
  await transaction.query(statement, [id, callbackUrl]);
  transaction.notifyAfterCommit();
}

/** Resumes a paused subscription and its lane. Served by webhook_subscription_pkey and webhook_lane_pkey. */
export async function resumeSubscription(transaction: Transaction, id: RecordId<'WebhookSubscription'>): Promise<void> {
  const statement = {
    name: 'resume-subscription',
    text: `
      with resumed as (
        update webhook_subscription
        set paused_reason = null, paused_at = null
        where id = $1
        returning id
      )
      update webhook_lane l
      set active = true
      from resumed
      where l.subscription_id = resumed.id`,
  };
  await transaction.query(statement, [id]);
  transaction.notifyAfterCommit();
}

/** Hides a subscription from every interface and erases its secret. Served by webhook_subscription_pkey. */
export async function markSubscriptionDeleted(database: Database, id: RecordId<'WebhookSubscription'>): Promise<void> {
  const statement = {
    name: 'mark-subscription-deleted',
    text: `update webhook_subscription set deleted_at = now(), secret_ciphertext = '' where id = $1`,
  };
  await database.query(statement, [id]);
}

/**
 * Counts a handshake of an account in the current minute.
 *
 * @returns the number of handshakes in this minute, including this one
 */
export async function countHandshake(
  database: Database,
  accountId: AccountId,
  interfaceName: InterfaceName,
): Promise<number> {
  const statement = {
    name: 'count-handshake',
    text: `
      insert into webhook_handshake_count as c (account_id, interface, minute, handshakes)
      values ($1, $2, date_trunc('minute', now()), 1)
      on conflict (account_id, minute) do update set handshakes = c.handshakes + 1
      returning handshakes`,
  };
  return onlyRow(await database.query<{ handshakes: number }>(statement, [accountId, interfaceName])).handshakes;
}

/** Deletes the counts of previous minutes. Served by webhook_handshake_count_pkey. */
export async function deleteOldHandshakeCounts(database: Database, accountId: AccountId): Promise<void> {
  const statement = {
    name: 'delete-old-handshake-counts',
    text: `delete from webhook_handshake_count where account_id = $1 and minute < date_trunc('minute', now())`,
  };
  await database.query(statement, [accountId]);
}
