import type { OperationContext } from './operation-context.ts';

/** Lets the response say that a mutation with an idempotency key returns the result of an earlier request. */
export function markReplay<Result extends { isRepeated?: boolean }>(context: OperationContext, result: Result): Result {
  if (result.isRepeated === true) context.extensions.idempotency = { replayed: true };
  return result;
}
