import { Deadline, type DeadlineError } from './deadline.ts';

interface Run {
  readonly deadline: Deadline;
  /** Aborts the signal of the work. */
  readonly abort: AbortController;
}

/** Reads bodies and runs handlers, each until its end or its deadline. */
export class Runs {
  readonly #runs = new Set<Run>();
  #isClosing = false;
  #givenUp: DeadlineError | undefined;

  /**
   * @param name what the error says, and the beginning of the option with the timeout
   * @param lost aborts the signal of the work too
   * @throws {DeadlineError} if the work was given up. It may still be running.
   */
  async run<Result>(
    name: 'body' | 'handler',
    timeoutMs: number,
    work: (signal: AbortSignal) => Promise<Result> | Result,
    lost?: AbortSignal,
  ): Promise<Result> {
    if (this.#givenUp !== undefined) throw this.#givenUp;
    const abort = new AbortController();
    const deadline = new Deadline(timeoutMs, `The ${name} took longer than ${name}TimeoutMs (${timeoutMs} ms).`);
    for (const source of [deadline.signal, lost]) source?.addEventListener('abort', () => abort.abort(source.reason));
    if (this.#isClosing) abort.abort();
    const run = { deadline, abort };
    this.#runs.add(run);
    try {
      return await deadline.race(work(abort.signal));
    } finally {
      deadline.stop();
      this.#runs.delete(run);
    }
  }

  /** Aborts the signal of each work, also of those that start later. */
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
