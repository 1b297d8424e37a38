import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SharedWrite, type Store, StoreUnavailableError, type Transaction } from '@deedwire/store';
import {
  claimIdempotencyKeys,
  completeIdempotencyKeys,
  type KeyClaim,
  releaseIdempotencyKey,
  selectIdempotencyKey,
} from '@deedwire/store/idempotency';
import { z } from 'zod';
import { type ActionContext, type Caller, isCaller, type Operator } from './context.ts';
import { type IdempotencyErrorCode, inputError, type UserError } from './errors.ts';

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
  | Rejected;

export interface IdempotentRequest<Payload> {
  mutation: string;
  /** Null or undefined: the request is not idempotent. */
  key: string | null | undefined;
  /** Must be equal in every request with the key. Without the key itself. */
  input: object;
  /** Further forms of the same input: with the other keys of the ring, if it contains a digest of a secret. */
  sameInputs?: readonly object[];
  /** Converts the payload to JSON and back. */
  codec: z.ZodType<Payload, object>;
}

// Longer than an operation can take. After this time the process that claimed the key has died.
const claimSeconds = 15;

const releaseRetryMs = 250;

/**
 * Runs `work` at most once for each idempotency key of an account and a mutation, for 24 hours. Work that saves no result,
 * because it was rejected or failed, releases the key. An operator has no keys.
 *
 * @throws {StoreUnavailableError} when another process took the claim over before the work was finished
 */
export async function withIdempotencyKey<Payload, Result>(
  context: ActionContext,
  by: Caller | Operator,
  request: IdempotentRequest<Payload>,
  work: (saveResult: SaveResult<Payload>) => Promise<Result>,
): Promise<IdempotencyResult<Payload, Result>> {
  const { key, codec } = request;
  if (key === null || key === undefined || !isCaller(by)) return { kind: 'done', result: await work(async () => {}) };
  const problem = problemOf(key);
  if (problem !== null) return problem;
  const claim = claimOf(context, by, request, key);
  const claimed = await claimIdempotencyKeys(context.store, [claim], claimSeconds);
  if (!claimed.has(claim.claimId)) return (await knownResult(context, claim, request)) ?? inProgress;

  let isSaved = false;
  let isUnavailable = false;
  try {
    const result = await work(async (transaction, { payload, ...saved }) => {
      const completed = await completeIdempotencyKeys(transaction, [
        { ...claim, payload: codec.encode(payload), ...saved },
      ]);
      isSaved = completed.has(claim.claimId);
      // Another request holds the key now. Roll back, so that only that request makes the change.
      if (!isSaved) throw new StoreUnavailableError(new Error('Another request took over the idempotency key.'));
    });
    return { kind: 'done', result };
  } catch (error) {
    isSaved = false;
    isUnavailable = error instanceof StoreUnavailableError;
    throw error;
  } finally {
    const released = isSaved ? undefined : releaseKey(context.store, claim);
    // The response must not wait for a database that does not respond.
    if (!isUnavailable) await released;
  }
}

/**
 * As `withIdempotencyKey`, for a mutation that only inserts rows: the key, the rows and the result are committed together.
 *
 * @param write null if the input is invalid: nothing is written, and a key that was used before decides over the response
 */
export async function writeWithIdempotencyKey<Payload>(
  context: ActionContext,
  caller: Caller,
  request: IdempotentRequest<Payload>,
  write: Pick<SharedWrite<Payload>, 'ids' | 'rows'> | null,
): Promise<IdempotencyResult<Payload, Payload | null>> {
  const { accountId, clientId } = caller;
  const key = request.key ?? null;
  const problem = key === null ? null : problemOf(key);
  if (problem !== null) return problem;
  const claim = key === null ? null : claimOf(context, caller, request, key);
  if (write === null) {
    const known = claim === null ? null : await knownResult(context, claim, request);
    return known ?? { kind: 'done', result: null };
  }
  const written = await context.store.write({ accountId, clientId, operation: caller, key: claim, ...write });
  if (written.kind === 'written') return { kind: 'done', result: written.answer };
  return (claim && (await knownResult(context, claim, request))) ?? inProgress;
}

/** How a mutation with an idempotency key responds if it did not run. */
export interface OtherResults<Payload, Code extends string, Result> {
  /** The result of the first request with the key. */
  repeat: (saved: SavedResult<Payload>) => Result;
  reject: (userErrors: UserError<Code | IdempotencyErrorCode>[]) => Result;
  /** An invalid key is reported with everything else that is wrong. The other errors of a key are about another request. */
  findInputErrors: () => InputErrors<Code> | Promise<InputErrors<Code>>;
}

type InputErrors<Code extends string> = readonly UserError<Code | IdempotencyErrorCode>[];

/** The result of the mutation, or of the first request with its key. */
export async function resultOf<Payload, Code extends string, Result>(
  idempotency: IdempotencyResult<Payload, Result>,
  { repeat, reject, findInputErrors }: OtherResults<Payload, Code, Result>,
): Promise<Result> {
  switch (idempotency.kind) {
    case 'done':
      return idempotency.result;
    case 'repeated':
      return { ...repeat(idempotency.saved), isRepeated: true };
    case 'rejected': {
      const { userError } = idempotency;
      return reject([...(userError.code === 'IDEMPOTENCY_KEY_INVALID' ? await findInputErrors() : []), userError]);
    }
  }
}

function problemOf(key: string): Rejected | null {
  if (/^[\x20-\x7e]{1,64}$/.test(key)) return null;
  const message = `The idempotency key must be 1 to 64 printable ASCII characters. It has ${key.length} characters.`;
  return rejected('IDEMPOTENCY_KEY_INVALID', message);
}

function claimOf(context: ActionContext, caller: Caller, request: IdempotentRequest<unknown>, key: string): KeyClaim {
  return {
    accountId: caller.accountId,
    mutation: request.mutation,
    key,
    claimId: context.random.uuid(),
    interfaceName: caller.interfaceName,
    inputHash: hashOf(request.input),
  };
}

function hashOf(input: object): Buffer {
  return createHash('sha256').update(JSON.stringify(input)).digest();
}

/** The response of a key that another request has used or is using. Null if no request has. */
async function knownResult<Payload>(
  context: ActionContext,
  claim: KeyClaim,
  { sameInputs = [], codec }: IdempotentRequest<Payload>,
): Promise<{ kind: 'repeated'; saved: SavedResult<Payload> } | Rejected | null> {
  const known = await selectIdempotencyKey(context.store, claim);
  if (known === null || known.isClaimable) return null;
  if (known.recordDeleted) {
    const message =
      'This idempotency key was used before, and the record that it created was deleted. Use another key.';
    return rejected('IDEMPOTENCY_KEY_REUSED', message);
  }
  const hashes = [claim.inputHash, ...sameInputs.map(hashOf)];
  if (!hashes.some((hash) => known.inputHash.equals(hash))) {
    return rejected('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before with another input.');
  }
  if (known.payload === null) return inProgress;
  return {
    kind: 'repeated',
    saved: { payload: codec.decode(known.payload), secretCiphertext: known.secretCiphertext },
  };
}

/**
 * Releases a key. While the database is unavailable, this retries in the background until the claim expires: a client that
 * retries its request must not wait for a claim without work.
 */
async function releaseKey(store: Store, claim: KeyClaim): Promise<void> {
  const isReleased = (): Promise<boolean> =>
    releaseIdempotencyKey(store, claim, claim.claimId).then(
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

interface Rejected {
  kind: 'rejected';
  userError: UserError<IdempotencyErrorCode>;
}

function rejected(code: IdempotencyErrorCode, message: string): Rejected {
  return { kind: 'rejected', userError: inputError(code, 'idempotencyKey', message) };
}

const inProgress = rejected(
  'IDEMPOTENCY_IN_PROGRESS',
  'A request with this idempotency key is in progress. Retry it later.',
);

/** A time as RFC 3339 text in UTC, and as a `Date`. */
export const timeCodec = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (time) => time.toISOString(),
});
