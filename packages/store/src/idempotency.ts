import type { AccountId, InterfaceName } from '@deedwire/domain';
import { firstRow, type Database } from './store.ts';

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
