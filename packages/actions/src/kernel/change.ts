import { type EventDefinition, formatAccountGid, gid } from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import { z } from 'zod';
import { appendEvent } from './append-event.ts';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller } from './context.ts';
import type { UserError } from './errors.ts';
import { resultOf, withIdempotencyKey } from './idempotency.ts';

export interface ChangeRequest {
  mutation: string;
  /** Null or undefined: the request is not idempotent. */
  key: string | null | undefined;
  /** Without the key. */
  input: object;
  /** Of the audit log: `<noun>.<verb>`. */
  action: string;
}

/** The transaction of a change. */
export interface Change<Code extends string> {
  transaction: Transaction;
  /** Appends an event of the caller's account. */
  append: <Snapshot extends object>(
    event: EventDefinition<Snapshot>,
    snapshot: Required<NoInfer<Snapshot>>,
  ) => Promise<void>;
  /** Rolls back: the request changes nothing and returns these errors. */
  refuse: (...userErrors: readonly UserError<Code>[]) => never;
}

/** The result, or user errors. */
type Answer<Result extends object> = Partial<Result> & {
  userErrors: readonly UserError<string>[];
  isRepeated?: boolean;
};

/** Returns through the transaction, which it rolls back. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly userErrors: readonly UserError<string>[];

  constructor(userErrors: readonly UserError<string>[]) {
    super('The change is refused.');
    this.userErrors = userErrors;
  }
}

/**
 * Commits a change of the caller, its events, an entry of the audit log and the result of its idempotency key together. The entry is about
 * the record of the first event, or about the account if there is none. What `work` throws rolls everything back and releases the key.
 *
 * @param work runs again, in a new transaction, if it drew a record id that already exists
 */
export async function changeOnce<Result extends object, Code extends string>(
  context: ActionContext,
  caller: Caller,
  { action, ...request }: ChangeRequest,
  work: (change: Change<Code>) => Promise<Result>,
): Promise<Answer<Result>> {
  const nothing: Partial<Result> = {};
  const account = { id: caller.accountId, interfaceName: caller.interfaceName };
  const refused = (userErrors: readonly UserError<string>[]): Answer<Result> => ({ ...nothing, userErrors });
  const changed = await withIdempotencyKey(context, caller, { ...request, codec: resultCodec }, async (saveResult) => {
    try {
      return await context.store.transaction(async (transaction): Promise<Answer<Result>> => {
        let subject: string | null = null;
        const result = await work({
          transaction,
          append(event, snapshot) {
            subject ??= subjectOf(context, event, snapshot);
            return appendEvent(context, transaction, account, event, snapshot, caller);
          },
          refuse(...userErrors) {
            throw new Refusal(userErrors);
          },
        });
        subject ??= formatAccountGid(context, account.interfaceName, account.id);
        await appendAuditEntry(transaction, caller, { action, subject, account });
        await saveResult(transaction, { payload: result, secretCiphertext: null, recordId: null });
        return { ...result, userErrors: [] };
      });
    } catch (error) {
      if (error instanceof Refusal) return refused(error.userErrors);
      throw error;
    }
  });
  return resultOf<object, string, Answer<Result>>(changed, {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of the same mutation
    repeat: ({ payload }) => ({ ...(payload as Result), userErrors: [] }),
    reject: refused,
    findInputErrors: () => [],
  });
}

/** The global identifier of the record of an event. Null if it is about none. */
function subjectOf<Snapshot extends object>(
  { gidNamespace }: ActionContext,
  { record }: Pick<EventDefinition<Snapshot>, 'record'>,
  snapshot: Snapshot,
): string | null {
  if (record === null) return null;
  const id = record.id(snapshot);
  return id.startsWith('gid://') ? id : gid(gidNamespace, record.type, id);
}

/** Times are the only values of a result that JSON does not have. */
const resultCodec = z.codec(z.record(z.string(), z.unknown()), z.custom<object>(), {
  decode: (saved) => Object(withTimes(saved)),
  encode: (result) => Object(withoutTimes(result)),
});

const timeTag = '$time';

function withoutTimes(value: unknown): unknown {
  if (value instanceof Date) return { [timeTag]: value.toISOString() };
  return mapped(value, withoutTimes);
}

function withTimes(value: unknown): unknown {
  const { [timeTag]: time, ...others } = { ...Object(value) };
  return typeof time === 'string' && Object.keys(others).length === 0 ? new Date(time) : mapped(value, withTimes);
}

function mapped(value: unknown, map: (part: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part)]));
}
