import { RequestError } from '../errors/request-error.ts';
import type { OperationPauses } from './operation-pauses.ts';

/** The time limit of an operation that is executed. */
export interface OperationDeadline {
  /** It has passed, or the operation is over: nothing more must run. */
  isLate: boolean;
  /** Ends the execution. Null before it begins, and if it has no promises. */
  abort: (() => void) | null;
}

/**
 * Returns what `run` returns. A promise rejects after the deadline, although resolvers or plugins may still run. The time for which
 * the operation waits does not count.
 *
 * @param what runs
 */
export function withDeadline<Result>(
  what: string,
  ms: number,
  run: () => Result | PromiseLike<Result>,
  { deadline, pauses }: { deadline?: OperationDeadline; pauses?: OperationPauses | undefined } = {},
): Result | Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  // First, so that a wait can pause it.
  const end = startDeadline(ms, pauses, () => {
    if (deadline) deadline.isLate = true;
    deadline?.abort?.();
    const cause = new Error(`${what} ran for ${ms} ms.`);
    reject(new RequestError('OPERATION_TIMEOUT', { cause }));
  });
  try {
    const result = run();
    if (!isPromiseLike(result)) {
      end();
      return result;
    }
    // Fewer turns of the microtask queue than with Promise.race.
    void Promise.resolve(result).then(
      (settled) => {
        end();
        return resolve(settled);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
    return promise;
  } catch (error) {
    end();
    throw error;
  }
}

/** Plugins also return promises of other libraries. */
export function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Returns a function that ends the deadline. */
function startDeadline(ms: number, pauses: OperationPauses | undefined, onLate: () => void): () => void {
  let dueMs = performance.now() + ms;
  let timer = setTimeout(onLate, ms).unref();
  let leftMs = 0;
  let isOver = false;
  pauses?.add({
    pause() {
      leftMs = Math.max(0, dueMs - performance.now());
      clearTimeout(timer);
    },
    resume() {
      if (isOver) return;
      dueMs = performance.now() + leftMs;
      timer = setTimeout(onLate, leftMs).unref();
    },
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
