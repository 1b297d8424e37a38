import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError, type Database, type Store } from '@deedwire/store';
import {
  claimIdempotencyKey,
  completeIdempotencyKey,
  releaseIdempotencyKey,
  selectIdempotencyKey,
  type IdempotencyKeyRef,
} from '@deedwire/store/idempotency';
import type { ActionContext, Caller } from './context.ts';
import { inputError, type UserError } from './user-error.ts';

/** The user errors of every mutation that takes an idempotency key. */
export type IdempotencyErrorCode = 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_INVALID' | 'IDEMPOTENCY_KEY_REUSED';

/** What is kept of an answer, to give it again. */
export interface KeptAnswer<Payload extends object> {
  /** A flat record: its fields may be texts, numbers, null, lists of such records, and times if their names end in `At`. */
  payload: Payload;
  /** The secret that the payload shows, encrypted. Null: it shows none. */
  secretCiphertext: Buffer | null;
}

/** Keeps the answer, in the transaction of what was done. */
export type KeepAnswer<Payload extends object> = (transaction: Database, answer: KeptAnswer<Payload>) => Promise<void>;

export type IdempotencyOutcome<Payload extends object, Result> =
  | { outcome: 'done'; result: Result }
  | { outcome: 'repeated'; answer: KeptAnswer<Payload> }
  | { outcome: 'refused'; userError: UserError<IdempotencyErrorCode> };

// Longer than an operation may take: after that the process that claimed the key is gone.
const claimSeconds = 15;

const releaseRetryMs = 250;

/**
 * Does a piece of work at most once for each key of an account and mutation, for 24 hours. Work that keeps no answer, because
 * it was refused or failed, gives the key back.
 *
 * @param request.key null or undefined: the work is done each time
 * @param request.input what must be the same when the key comes again; without the key itself
 */
export async function withIdempotencyKey<Payload extends object, Result>(
  context: ActionContext,
  caller: Caller,
  request: { mutation: string; key: string | null | undefined; input: object },
  work: (keepAnswer: KeepAnswer<Payload>) => Promise<Result>,
): Promise<IdempotencyOutcome<Payload, Result>> {
  const { mutation, key } = request;
  if (key === null || key === undefined) return { outcome: 'done', result: await work(async () => {}) };
  if (!/^[\x20-\x7e]{1,64}$/.test(key)) {
    return refused('IDEMPOTENCY_KEY_INVALID', 'The idempotency key must be 1 to 64 printable ASCII characters.');
  }

  const ref = { accountId: caller.accountId, mutation, key };
  const inputHash = createHash('sha256').update(JSON.stringify(request.input)).digest();
  const claimId = randomUUID();
  const claimed = await claimIdempotencyKey(context.store, ref, {
    id: claimId,
    interfaceName: caller.interfaceName,
    inputHash,
    forSeconds: claimSeconds,
  });
  if (!claimed) {
    const known = await selectIdempotencyKey(context.store, ref);
    if (known !== null && !known.inputHash.equals(inputHash)) {
      return refused('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before with another input.');
    }
    if (known === null || known.payload === null) {
      return refused('IDEMPOTENCY_IN_PROGRESS', 'A request with this idempotency key is still being worked on.');
    }
    // The same mutation of the same account kept it: it is what `work` keeps.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const payload = reviveTimes(known.payload) as Payload;
    return { outcome: 'repeated', answer: { payload, secretCiphertext: known.secretCiphertext } };
  }

  let kept = false;
  try {
    const result = await work(async (transaction, answer) => {
      kept = await completeIdempotencyKey(transaction, ref, { claimId, ...answer });
      // Another process took the claim over: it was held for too long. Let it do the work.
      if (!kept) throw new StoreUnavailableError(new Error('The claim of an idempotency key was lost.'));
    });
    return { outcome: 'done', result };
  } catch (error) {
    kept = false;
    throw error;
  } finally {
    if (!kept) await giveBack(context.store, ref, claimId);
  }
}

/**
 * Gives a key back. With the store away, whoever was told so comes back with the same key: it is tried again until then, so
 * that nobody waits for a claim behind which no work is.
 */
async function giveBack(store: Store, ref: IdempotencyKeyRef, claimId: string): Promise<void> {
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

function refused(
  code: IdempotencyErrorCode,
  message: string,
): { outcome: 'refused'; userError: UserError<IdempotencyErrorCode> } {
  return { outcome: 'refused', userError: inputError(code, 'idempotencyKey', message) };
}

/** A record as it was before it was kept. */
function reviveTimes(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'string' && name.endsWith('At') ? new Date(value) : value,
    ]),
  );
}
