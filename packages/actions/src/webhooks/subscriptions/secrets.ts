import { type Database, onlyRow, type Transaction, sql } from '@deedwire/store';
import type { SubscriptionId } from '@deedwire/webhooks/tables';

/** Names one of the two secrets that a subscription can have. */
export interface SubscriptionSecretRef {
  id: SubscriptionId;
  /** The new secret of a rotation. */
  isNext: boolean;
}

export interface SubscriptionSecret extends SubscriptionSecretRef {
  /** Empty once the subscription is deleted. */
  secretCiphertext: Buffer;
}

/**
 * The secrets of a page of all subscriptions of this cell, by id, including of deleted ones. A subscription has one, or two from
 * the start of a rotation until it is completed. Served by webhook_subscription_pkey.
 *
 * @param limit how many subscriptions to read
 */
export async function selectSubscriptionSecrets(
  database: Database,
  after: SubscriptionSecretRef | null,
  limit: number,
): Promise<SubscriptionSecret[]> {
  const statement = sql('select-subscription-secrets', 'in-index-order')`
      select id, secret_ciphertext as "secretCiphertext", next_secret_ciphertext as "nextSecretCiphertext"
      from webhook_subscription s
      where id > $1
        and not exists (select from account_away w where w.account_id = s.account_id and not w.is_frozen)
      order by id
      limit $2`;
  const rows = await database.query<{
    id: SubscriptionId;
    secretCiphertext: Buffer;
    nextSecretCiphertext: Buffer | null;
  }>(statement, [after?.id ?? 0, limit]);
  return rows.flatMap(({ id, secretCiphertext, nextSecretCiphertext: next }) => [
    { id, isNext: false, secretCiphertext },
    ...(next === null ? [] : [{ id, isNext: true, secretCiphertext: next }]),
  ]);
}

/**
 * Replaces ciphertexts that are still the ones that were read. Passes over rows that others have locked, so it never waits
 * and no one waits longer for it than its transaction takes. Served by webhook_subscription_pkey.
 *
 * The plaintext stays the same, so workers need not be notified.
 *
 * @returns the number of replaced ciphertexts
 */
export async function replaceSubscriptionSecrets(
  transaction: Transaction,
  secrets: readonly { ref: SubscriptionSecretRef; read: Buffer; replacement: Buffer }[],
): Promise<number> {
  const statement = sql('replace-subscription-secrets')`
      with locked as (
        select s.id, r.is_next, r.replacement
        from unnest($1::bigint[], $2::boolean[], $3::bytea[], $4::bytea[]) as r (id, is_next, read, replacement)
        join webhook_subscription s
          on s.id = r.id and r.read = case when r.is_next then s.next_secret_ciphertext else s.secret_ciphertext end
        for no key update of s skip locked
      ), replaced as (
        update webhook_subscription s
        set secret_ciphertext = coalesce(l.secret, s.secret_ciphertext),
          next_secret_ciphertext = coalesce(l.next, s.next_secret_ciphertext)
        from (
          select id, (array_agg(replacement) filter (where not is_next))[1] as secret,
            (array_agg(replacement) filter (where is_next))[1] as next
          from locked
          group by id
        ) l
        where s.id = l.id
      )
      select count(*)::int as count from locked`;
  const rows = await transaction.query<{ count: number }>(statement, [
    secrets.map(({ ref }) => ref.id),
    secrets.map(({ ref }) => ref.isNext),
    secrets.map(({ read }) => read),
    secrets.map(({ replacement }) => replacement),
  ]);
  return onlyRow(rows).count;
}

/** The value of a request header. */
interface SubscriptionHeader {
  id: SubscriptionId;
  name: string;
  ciphertext: Buffer;
  /** The origin for which the value is encrypted. */
  origin: string;
}

/** Those of a page of all subscriptions of this cell, by id, that have one. Served by webhook_subscription_pkey. */
export async function selectSubscriptionHeaders(
  database: Database,
  after: SubscriptionId | null,
  limit: number,
): Promise<SubscriptionHeader[]> {
  const statement = sql('select-subscription-headers', 'in-index-order')`
      select id, request_header_name as name, request_header_ciphertext as ciphertext, request_header_origin as origin
      from webhook_subscription s
      where id > $1 and request_header_ciphertext is not null
        and not exists (select from account_away w where w.account_id = s.account_id and not w.is_frozen)
      order by id
      limit $2`;
  return database.query<SubscriptionHeader>(statement, [after ?? 0, limit]);
}

/** As `replaceSubscriptionSecrets`, the values of request headers. */
export async function replaceSubscriptionHeaders(
  transaction: Transaction,
  secrets: readonly { ref: SubscriptionId; read: Buffer; replacement: Buffer }[],
): Promise<number> {
  const statement = sql('replace-subscription-headers')`
      with locked as (
        select s.id, r.replacement
        from unnest($1::bigint[], $2::bytea[], $3::bytea[]) as r (id, read, replacement)
        join webhook_subscription s on s.id = r.id and s.request_header_ciphertext = r.read
        for no key update of s skip locked
      )
      update webhook_subscription s
      set request_header_ciphertext = l.replacement
      from locked l
      where s.id = l.id
      returning s.id`;
  const rows = await transaction.query(statement, [
    secrets.map(({ ref }) => ref),
    secrets.map(({ read }) => read),
    secrets.map(({ replacement }) => replacement),
  ]);
  return rows.length;
}

/**
 * Replaces the secret of a subscription. With an overlap, both secrets sign until it has passed, and no rotation must be in
 * progress; without one, the new secret replaces all others. A rotation that has ended is completed. The subscription must be
 * locked. Served by webhook_subscription_pkey.
 */
export async function rotateSecret(
  transaction: Transaction,
  id: SubscriptionId,
  rotation: { secretCiphertext: Buffer; overlapSeconds: number },
): Promise<void> {
  const statement = sql('rotate-secret')`
      update webhook_subscription
      set
        secret_ciphertext = case
          when $3::int = 0 then $2::bytea
          when rotation_ends_at <= now() then next_secret_ciphertext
          else secret_ciphertext
        end,
        next_secret_ciphertext = case when $3 > 0 then $2 end,
        rotation_started_at = case when $3 > 0 then now() end,
        rotation_ends_at = case when $3 > 0 then now() + make_interval(secs => $3) end
      where id = $1`;
  await transaction.query(statement, [id, rotation.secretCiphertext, rotation.overlapSeconds]);
}
