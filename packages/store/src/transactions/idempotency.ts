import type { AccountId, InterfaceName, RecordId } from '@deedwire/core';
import { firstRow, type Database, type Transaction, sql } from '../statements/database.ts';

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
  /** The key is older than 24 hours, or its claim has expired: the next request may claim it. */
  isClaimable: boolean;
}

/** A request that wants to hold a key. */
export interface KeyClaim extends IdempotencyKeyRef {
  claimId: string;
  interfaceName: InterfaceName;
  inputHash: Buffer;
}

/**
 * Claims keys that are new, older than 24 hours, or whose claim has expired. No two claims may be for the same key. Served by
 * idempotency_key_pkey.
 *
 * @returns the ids of the claims that now hold their keys; `selectIdempotencyKey` returns the state of the others
 */
export async function claimIdempotencyKeys(
  database: Database,
  claims: readonly KeyClaim[],
  forSeconds: number,
): Promise<ReadonlySet<string>> {
  const statement = sql('claim-idempotency-keys')`
      insert into idempotency_key as k (account_id, mutation, key, interface, input_hash, claim, claimed_until)
      select c.account_id, c.mutation, c.key, c.interface, c.input_hash, c.claim, now() + make_interval(secs => $7)
      from unnest($1::bigint[], $2::text[], $3::text[], $4::interface_name[], $5::bytea[], $6::uuid[])
        as c (account_id, mutation, key, interface, input_hash, claim)
      order by c.account_id, c.mutation, c.key
      on conflict (account_id, mutation, key) do update
      set input_hash = excluded.input_hash, claim = excluded.claim, claimed_until = excluded.claimed_until,
        payload = null, secret_ciphertext = null, record_id = null, record_deleted = false, created_at = now()
      where ${isClaimable('k')}
      returning claim`;
  const rows = await database.query<{ claim: string }>(statement, [
    claims.map(({ accountId }) => accountId),
    claims.map(({ mutation }) => mutation),
    claims.map(({ key }) => key),
    claims.map(({ interfaceName }) => interfaceName),
    claims.map(({ inputHash }) => inputHash),
    claims.map(({ claimId }) => claimId),
    forSeconds,
  ]);
  return new Set(rows.map(({ claim }) => claim));
}

/** The row counts as one that does not exist. */
const isClaimable = (row: string): string => `(
        ${row}.created_at < now() - interval '24 hours'
        or (${row}.payload is null and not ${row}.record_deleted and ${row}.claimed_until < now())
      )`;

/** Served by idempotency_key_pkey. */
export async function selectIdempotencyKey(
  database: Database,
  ref: IdempotencyKeyRef,
): Promise<IdempotencyKeyRow | null> {
  const statement = sql('select-idempotency-key')`
      select input_hash as "inputHash", payload, secret_ciphertext as "secretCiphertext",
        record_deleted as "recordDeleted", ${isClaimable('k')} as "isClaimable"
      from idempotency_key k
      where account_id = $1 and mutation = $2 and key = $3`;
  return firstRow(await database.query<IdempotencyKeyRow>(statement, [ref.accountId, ref.mutation, ref.key]));
}

/** The result of a request that holds a key. */
export interface KeyResult extends IdempotencyKeyRef {
  claimId: string;
  /** Returned when the request is repeated. */
  payload: object;
  secretCiphertext: Buffer | null;
  /** The id of the created record, if it can be deleted: its deletion erases the result. */
  recordId: string | null;
}

/**
 * Saves the results of requests, in the transaction of their changes. Served by idempotency_key_pkey.
 *
 * @returns the ids of the claims that still held their keys. If one is missing, another request has taken its key over, and the
 * transaction must be rolled back.
 */
export async function completeIdempotencyKeys(
  database: Database,
  results: readonly KeyResult[],
): Promise<ReadonlySet<string>> {
  const statement = sql('complete-idempotency-keys')`
      update idempotency_key k
      set payload = r.payload, secret_ciphertext = r.secret_ciphertext, record_id = r.record_id
      from unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::jsonb[], $6::bytea[], $7::bigint[])
        as r (account_id, mutation, key, claim, payload, secret_ciphertext, record_id)
      where k.account_id = r.account_id and k.mutation = r.mutation and k.key = r.key and k.claim = r.claim
      returning k.claim`;
  const rows = await database.query<{ claim: string }>(statement, [
    results.map(({ accountId }) => accountId),
    results.map(({ mutation }) => mutation),
    results.map(({ key }) => key),
    results.map(({ claimId }) => claimId),
    results.map(({ payload }) => JSON.stringify(payload)),
    results.map(({ secretCiphertext }) => secretCiphertext),
    results.map(({ recordId }) => recordId),
  ]);
  return new Set(rows.map(({ claim }) => claim));
}

/** Releases a key whose request changed nothing. Served by idempotency_key_pkey. */
export async function releaseIdempotencyKey(
  database: Database,
  ref: IdempotencyKeyRef,
  claimId: string,
): Promise<void> {
  const statement = sql('release-idempotency-key')`
      delete from idempotency_key
      where account_id = $1 and mutation = $2 and key = $3 and claim = $4 and payload is null`;
  await database.query(statement, [ref.accountId, ref.mutation, ref.key, claimId]);
}

/**
 * Erases the saved results of a deleted record. The keys stay used for 24 hours. Served by idempotency_key_pkey, which
 * reads the keys that the account used for the mutations in the last 24 hours.
 */
export async function eraseIdempotencyKeysOfRecord(
  database: Database,
  record: { accountId: AccountId; mutations: readonly string[]; recordId: string },
): Promise<void> {
  const statement = sql('erase-idempotency-keys-of-record')`
      update idempotency_key
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      where account_id = $1 and mutation = any ($2::text[]) and record_id = $3`;
  await database.query(statement, [record.accountId, record.mutations, record.recordId]);
}

export interface IdempotencySecretRow extends IdempotencyKeyRef {
  interfaceName: InterfaceName;
  /** Null if the saved result contains no secret. */
  secretCiphertext: Buffer | null;
  /** Not null if there is a secret: the subscription that it belongs to. */
  recordId: RecordId<'WebhookSubscription'> | null;
}

/** A page of all idempotency keys of this cell, in the order of their primary key, which serves it. Bounded also if few have a secret. */
export async function selectIdempotencySecrets(
  database: Database,
  after: IdempotencyKeyRef | null,
  limit: number,
): Promise<IdempotencySecretRow[]> {
  const statement = sql('select-idempotency-secrets', 'in-index-order')`
      select account_id as "accountId", interface as "interfaceName", mutation, key,
        secret_ciphertext as "secretCiphertext", record_id as "recordId"
      from idempotency_key k
      where (account_id, mutation, key) > ($1, $2, $3)
        and not exists (select from account_away w where w.account_id = k.account_id and not w.is_frozen)
      order by account_id, mutation, key
      limit $4`;
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
  const statement = sql('replace-idempotency-secrets')`
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
      returning k.account_id`;
  const rows = await transaction.query(statement, [
    secrets.map(({ ref }) => ref.accountId),
    secrets.map(({ ref }) => ref.mutation),
    secrets.map(({ ref }) => ref.key),
    secrets.map(({ read }) => read),
    secrets.map(({ replacement }) => replacement),
  ]);
  return rows.length;
}
