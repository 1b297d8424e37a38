import { Deadline, type DeadlineError } from './deadline.ts';

interface Run {
  readonly deadline: Deadline;
  /** Aborts the signal of the handler. */
  readonly abort: AbortController;
}

/** Runs handlers, or reads bodies, each until its end or its deadline. */
export class HandlerRuns {
  readonly #timeoutMs: number;
  readonly #runs = new Set<Run>();
  readonly #name: 'body' | 'handler';
  #isClosing = false;
  #givenUp: DeadlineError | undefined;

  constructor(timeoutMs: number, name: 'body' | 'handler' = 'handler') {
    this.#timeoutMs = timeoutMs;
    this.#name = name;
  }

  /**
   * @param lost aborts the signal of the handler too
   * @throws {DeadlineError} if the handler was given up. It may still be running.
   */
  async run<Result>(handle: (signal: AbortSignal) => Promise<Result> | Result, lost?: AbortSignal): Promise<Result> {
    if (this.#givenUp !== undefined) throw this.#givenUp;
    const abort = new AbortController();
    const deadline = new Deadline(
      this.#timeoutMs,
      `The ${this.#name} took longer than ${this.#name}TimeoutMs (${this.#timeoutMs} ms).`,
    );
    deadline.signal.addEventListener('abort', () => abort.abort(deadline.signal.reason));
    lost?.addEventListener('abort', () => abort.abort(lost.reason));
    if (this.#isClosing) abort.abort();
    const run = { deadline, abort };
    this.#runs.add(run);
    try {
      return await deadline.race(handle(abort.signal));
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

  /** Ends what runs, and lets nothing start. */
  giveUp(error: DeadlineError): void {
    this.#givenUp = error;
    for (const { deadline } of this.#runs) deadline.expire(error);
  }
}
