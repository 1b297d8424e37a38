import { Deadline, type DeadlineError } from './deadline.ts';

interface Run {
  readonly deadline: Deadline;
  /** Aborts the signal of the handler. */
  readonly abort: AbortController;
}

/** Runs handlers, each until its end or its deadline. */
export class HandlerRuns {
  readonly #timeoutMs: number;
  readonly #runs = new Set<Run>();
  #isClosing = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * @param lost aborts the signal of the handler too
   * @throws {DeadlineError} if the handler was given up. It may still be running.
   */
  async run(handle: (signal: AbortSignal) => unknown, lost?: AbortSignal): Promise<void> {
    const abort = new AbortController();
    const deadline = new Deadline(
      this.#timeoutMs,
      `The handler took longer than handlerTimeoutMs (${this.#timeoutMs} ms).`,
    );
    deadline.signal.addEventListener('abort', () => abort.abort(deadline.signal.reason));
    lost?.addEventListener('abort', () => abort.abort(lost.reason));
    if (this.#isClosing) abort.abort();
    const run = { deadline, abort };
    this.#runs.add(run);
    try {
      await deadline.race(handle(abort.signal));
    } finally {
      deadline.stop();
      this.#runs.delete(run);
    }
  }

  /** Aborts the signal of each handler, also of those that start later. */
  close(): void {
    this.#isClosing = true;
    for (const { abort } of this.#runs) abort.abort();
  }

  giveUp(error: DeadlineError): void {
    for (const { deadline } of this.#runs) deadline.expire(error);
  }
}
