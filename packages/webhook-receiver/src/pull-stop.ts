/** What ends a run: a signal, the receiver, or the time. */
export class PullStop {
  readonly #controller = new AbortController();
  readonly #removed = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #isTimedOut = false;

  constructor(sources: readonly (AbortSignal | undefined)[], timeoutMs: number | undefined) {
    const stop = (): void => this.stop();
    for (const source of sources) {
      if (source?.aborted === true) stop();
      source?.addEventListener('abort', stop, { signal: this.#removed.signal });
    }
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(() => {
        this.#isTimedOut = !this.isStopped;
        stop();
      }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  /** The time was the first that ended it. */
  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  stop(): void {
    this.#controller.abort();
  }

  /** Waits, or until the run is stopped. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.isStopped) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.signal.addEventListener('abort', end);
    });
  }

  /** Call it when the run has ended: a timer keeps the process alive. */
  end(): void {
    clearTimeout(this.#timer);
    this.#removed.abort();
  }
}
