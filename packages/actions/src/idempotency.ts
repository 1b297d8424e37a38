import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Store, StoreUnavailableError, type Transaction } from '@deedwire/store';
import {
  claimIdempotencyKey,
  completeIdempotencyKey,
  type IdempotencyKeyRef,
  releaseIdempotencyKey,
  selectIdempotencyKey,
} from '@deedwire/store/idempotency';
import { z } from 'zod';
import type { ActionContext, Caller } from './context.ts';
import { inputError, type UserError } from './errors.ts';

/** The user errors of every mutation that accepts an idempotency key. */
export type IdempotencyErrorCode = 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_INVALID' | 'IDEMPOTENCY_KEY_REUSED';

/** The saved result of a mutation, returned to repeated requests. */
export interface SavedResult<Payload> {
  payload: Payload;
  /** The encrypted secret of the payload. Null if the payload contains no secret. */
  secretCiphertext: Buffer | null;
}

/** A result to save. */
export interface NewResult<Payload> extends SavedResult<Payload> {
  /** The id of the created record, if it can be deleted: its deletion erases the saved result. */
  recordId: string | null;
}

/** Saves the result in the transaction of the mutation. */
export type SaveResult<Payload> = (transaction: Transaction, result: NewResult<Payload>) => Promise<void>;

export type IdempotencyResult<Payload, Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'repeated'; saved: SavedResult<Payload> }
  | { kind: 'rejected'; userError: UserError<IdempotencyErrorCode> };

export interface IdempotentRequest<Payload> {
  mutation: string;
  /** Null or undefined: the request is not idempotent. */
  key: string | null | undefined;
  /** Must be equal in every request with the key. Without the key itself. */
  input: object;
  /** Converts the payload to JSON and back. */
  codec: z.ZodType<Payload, object>;
}

// Longer than an operation can take. After this time the process that claimed the key has died.
const claimSeconds = 15;

const releaseRetryMs = 250;

/**
 * Runs `work` at most once for each idempotency key of an account and a mutation, for 24 hours. Work that saves no result,
 * because it was rejected or failed, releases the key.
 *
 * @throws {StoreUnavailableError} when another process took the claim over before the work was finished
 */
export async function withIdempotencyKey<Payload, Result>(
  context: ActionContext,
  caller: Caller,
  request: IdempotentRequest<Payload>,
  work: (saveResult: SaveResult<Payload>) => Promise<Result>,
): Promise<IdempotencyResult<Payload, Result>> {
  const { mutation, key, codec } = request;
  if (key === null || key === undefined) return { kind: 'done', result: await work(async () => {}) };
  if (!/^[\x20-\x7e]{1,64}$/.test(key)) {
    const message = `The idempotency key must be 1 to 64 printable ASCII characters. It has ${key.length} characters.`;
    return rejected('IDEMPOTENCY_KEY_INVALID', message);
  }

  const ref = { accountId: caller.accountId, mutation, key };
  const inputHash = createHash('sha256').update(JSON.stringify(request.input)).digest();
  const claimId = context.random.uuid();
  const claimed = await claimIdempotencyKey(context.store, ref, {
    id: claimId,
    interfaceName: caller.interfaceName,
    inputHash,
    forSeconds: claimSeconds,
  });
  if (!claimed) {
    const known = await selectIdempotencyKey(context.store, ref);
    if (known?.recordDeleted === true) {
      const message =
        'This idempotency key was used before, and the record that it created was deleted. Use another key.';
      return rejected('IDEMPOTENCY_KEY_REUSED', message);
    }
    if (known !== null && !known.inputHash.equals(inputHash)) {
      return rejected('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before with another input.');
    }
    if (known === null || known.payload === null) {
      return rejected('IDEMPOTENCY_IN_PROGRESS', 'A request with this idempotency key is in progress. Retry it later.');
    }
    const payload = codec.decode(known.payload);
    return { kind: 'repeated', saved: { payload, secretCiphertext: known.secretCiphertext } };
  }

  let isSaved = false;
  let isUnavailable = false;
  try {
    const result = await work(async (transaction, { payload, ...saved }) => {
      const encoded = codec.encode(payload);
      isSaved = await completeIdempotencyKey(transaction, ref, { claimId, payload: encoded, ...saved });
      // Another request holds the key now. Roll back, so that only that request makes the change.
      if (!isSaved) throw new StoreUnavailableError(new Error('Another request took over the idempotency key.'));
    });
    return { kind: 'done', result };
  } catch (error) {
    isSaved = false;
    isUnavailable = error instanceof StoreUnavailableError;
    throw error;
  } finally {
    const released = isSaved ? undefined : releaseKey(context.store, ref, claimId);
    // The response must not wait for a database that does not respond.
    if (!isUnavailable) await released;
  }
}

/**
 * Releases a key. While the database is unavailable, this retries in the background until the claim expires: a client that
 * retries its request must not wait for a claim without work.
 */
async function releaseKey(store: Store, ref: IdempotencyKeyRef, claimId: string): Promise<void> {
  const isReleased = (): Promise<boolean> =>
    releaseIdempotencyKey(store, ref, claimId).then(
      () => true,
      () => false,
    );
  if (await isReleased()) return;
  void (async () => {
    for (let waitedMs = 0; waitedMs < claimSeconds * 1_000; waitedMs += releaseRetryMs) {
      await sleep(releaseRetryMs, undefined, { ref: false });
      if (await isReleased()) return;
    }
  })();
}

function rejected(
  code: IdempotencyErrorCode,
  message: string,
): { kind: 'rejected'; userError: UserError<IdempotencyErrorCode> } {
  return { kind: 'rejected', userError: inputError(code, 'idempotencyKey', message) };
}

/** A time as RFC 3339 text in UTC, and as a `Date`. */
export const timeCodec = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (time) => time.toISOString(),
});
