import type { AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import { firstRow, type Database, type Transaction } from './store.ts';

/** Identifies an idempotency key: the same key of another account or mutation is a different one. */
export interface IdempotencyKeyRef {
  accountId: AccountId;
  mutation: string;
  key: string;
}

export interface IdempotencyKeyRow {
  inputHash: Buffer;
  /** Null while the request is in progress, and once the record is deleted. */
  payload: object | null;
  secretCiphertext: Buffer | null;
  recordDeleted: boolean;
}

/**
 * Claims a key that is new, older than 24 hours, or whose claim has expired. Served by idempotency_key_pkey.
 *
 * @returns false if the key is in use; `selectIdempotencyKey` then returns its state
 */
export async function claimIdempotencyKey(
  database: Database,
  ref: IdempotencyKeyRef,
  claim: { id: string; interfaceName: InterfaceName; inputHash: Buffer; forSeconds: number },
): Promise<boolean> {
  const statement = {
    name: 'claim-idempotency-key',
    text: `
      insert into idempotency_key as k (account_id, mutation, key, interface, input_hash, claim, claimed_until)
      values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
      on conflict (account_id, mutation, key) do update
      set input_hash = excluded.input_hash, claim = excluded.claim, claimed_until = excluded.claimed_until,
        payload = null, secret_ciphertext = null, record_id = null, record_deleted = false, created_at = now()
      where k.created_at < now() - interval '24 hours'
        or (k.payload is null and not k.record_deleted and k.claimed_until < now())
      returning claim`,
  };
  const rows = await database.query(statement, [
    ref.accountId,
    ref.mutation,
    ref.key,
    claim.interfaceName,
    claim.inputHash,
    claim.id,
    claim.forSeconds,
  ]);
  return rows.length === 1;
}

/** Served by idempotency_key_pkey. */
export async function selectIdempotencyKey(
  database: Database,
  ref: IdempotencyKeyRef,
): Promise<IdempotencyKeyRow | null> {
  const statement = {
    name: 'select-idempotency-key',
    text: `
      select input_hash as "inputHash", payload, secret_ciphertext as "secretCiphertext",
        record_deleted as "recordDeleted"
      from idempotency_key
      where account_id = $1 and mutation = $2 and key = $3`,
  };
  return firstRow(await database.query<IdempotencyKeyRow>(statement, [ref.accountId, ref.mutation, ref.key]));
}

/**
 * Saves the result of the request, in the transaction of its changes. Served by idempotency_key_pkey.
 *
 * @returns false if another request has taken over the claim. The transaction must then be rolled back.
 */
export async function completeIdempotencyKey(
  database: Database,
  ref: IdempotencyKeyRef,
  result: { claimId: string; payload: object; secretCiphertext: Buffer | null; recordId: string | null },
): Promise<boolean> {
  const statement = {
    name: 'complete-idempotency-key',
    text: `
      update idempotency_key
      set payload = $5, secret_ciphertext = $6, record_id = $7
      where account_id = $1 and mutation = $2 and key = $3 and claim = $4
      returning claim`,
  };
  const rows = await database.query(statement, [
    ref.accountId,
    ref.mutation,
    ref.key,
    result.claimId,
    JSON.stringify(result.payload),
    result.secretCiphertext,
    result.recordId,
  ]);
  return rows.length === 1;
}

/** Releases a key whose request changed nothing. Served by idempotency_key_pkey. */
export async function releaseIdempotencyKey(
  database: Database,
  ref: IdempotencyKeyRef,
  claimId: string,
): Promise<void> {
  const statement = {
    name: 'release-idempotency-key',
    text: `
      delete from idempotency_key
      where account_id = $1 and mutation = $2 and key = $3 and claim = $4 and payload is null`,
  };
  await database.query(statement, [ref.accountId, ref.mutation, ref.key, claimId]);
}

/**
 * Erases the saved results of a deleted record. The keys stay used for 24 hours. Served by idempotency_key_pkey, which
 * reads the keys that the account used for the mutation in the last 24 hours.
 */
export async function eraseIdempotencyKeysOfRecord(
  database: Database,
  record: { accountId: AccountId; mutation: string; recordId: string },
): Promise<void> {
  const statement = {
    name: 'erase-idempotency-keys-of-record',
    text: `
      update idempotency_key
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      where account_id = $1 and mutation = $2 and record_id = $3`,
  };
  await database.query(statement, [record.accountId, record.mutation, record.recordId]);
}

export interface IdempotencySecretRow extends IdempotencyKeyRef {
  interfaceName: InterfaceName;
  /** Null if the saved result contains no secret. */
  secretCiphertext: Buffer | null;
  /** Not null if there is a secret: the subscription that it belongs to. */
  recordId: RecordId<'WebhookSubscription'> | null;
}

/** A page of all idempotency keys, in the order of their primary key, which serves it. Bounded also if few have a secret. */
export async function selectIdempotencySecrets(
  database: Database,
  after: IdempotencyKeyRef | null,
  limit: number,
): Promise<IdempotencySecretRow[]> {
  const statement = {
    name: 'select-idempotency-secrets',
    text: `
      select account_id as "accountId", interface as "interfaceName", mutation, key,
        secret_ciphertext as "secretCiphertext", record_id as "recordId"
      from idempotency_key
      where (account_id, mutation, key) > ($1, $2, $3)
      order by account_id, mutation, key
      limit $4`,
    planning: 'in-index-order' as const,
  };
  return database.query<IdempotencySecretRow>(statement, [
    after?.accountId ?? 0,
    after?.mutation ?? '',
    after?.key ?? '',
    limit,
  ]);
}

/**
 * Replaces ciphertexts that are still the ones that were read. Passes over rows that others have locked, so it never waits
 * and no one waits longer for it than its transaction takes. Served by idempotency_key_pkey.
 *
 * @returns the number of replaced ciphertexts
 */
export async function replaceIdempotencySecrets(
  transaction: Transaction,
  secrets: readonly { ref: IdempotencyKeyRef; read: Buffer; replacement: Buffer }[],
): Promise<number> {
  const statement = {
    name: 'replace-idempotency-secrets',
    text: `
      with locked as (
        select k.account_id, k.mutation, k.key, r.replacement
        from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])
          as r (account_id, mutation, key, read, replacement)
        join idempotency_key k on k.account_id = r.account_id and k.mutation = r.mutation and k.key = r.key
          and k.secret_ciphertext = r.read
        for no key update of k skip locked
      )
      update idempotency_key k
      set secret_ciphertext = l.replacement
      from locked l
      where k.account_id = l.account_id and k.mutation = l.mutation and k.key = l.key
      returning k.account_id`,
  };
  const rows = await transaction.query(statement, [
    secrets.map(({ ref }) => ref.accountId),
    secrets.map(({ ref }) => ref.mutation),
    secrets.map(({ ref }) => ref.key),
    secrets.map(({ read }) => read),
    secrets.map(({ replacement }) => replacement),
  ]);
  return rows.length;
}
