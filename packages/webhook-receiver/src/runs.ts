import { Deadline, type DeadlineError } from './deadline.ts';

/** Reads bodies and runs handlers, each until its end or its deadline. */
export class Runs {
  readonly #deadlines = new Set<Deadline>();
  /** Aborts the signal of each work, including of those that start later. */
  readonly closing: AbortController = new AbortController();
  #givenUp: DeadlineError | undefined;

  /**
   * @param name what the error says, and the beginning of the option with the timeout
   * @param sources abort the signal of the work too
   * @throws {DeadlineError} if the work was given up. It may still be running.
   */
  async run<Result>(
    name: 'body' | 'handler',
    timeoutMs: number,
    work: (signal: AbortSignal) => Promise<Result> | Result,
    ...sources: readonly (AbortSignal | undefined)[]
  ): Promise<Result> {
    if (this.#givenUp !== undefined) throw this.#givenUp;
    const deadline = new Deadline(timeoutMs, `The ${name} took longer than ${name}TimeoutMs (${timeoutMs} ms).`);
    const abort = new AbortController();
    const ended = new AbortController();
    // Not `AbortSignal.any`: Node keeps its signal in memory while it has a listener and a source exists.
    for (const source of [deadline.signal, this.closing.signal, ...sources]) {
      const pass = (): void => abort.abort(source?.reason);
      if (source?.aborted === true) pass();
      source?.addEventListener('abort', pass, { signal: ended.signal });
    }
    this.#deadlines.add(deadline);
    try {
      return await deadline.race(work(abort.signal));
    } finally {
      deadline.stop();
      ended.abort();
      this.#deadlines.delete(deadline);
    }
  }

  /** Ends what runs, and lets nothing start. */
  giveUp(error: DeadlineError): void {
    this.#givenUp = error;
    for (const deadline of this.#deadlines) deadline.expire(error);
  }
}
