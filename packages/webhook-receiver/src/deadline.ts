/** The time is used up, or the work was given up before. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** A time limit that can be paused. It starts at once. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #expired: Promise<never>;
  readonly #error: DeadlineError;
  #leftMs: number;
  #startedMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param message of the error when the time is used up */
  constructor(limitMs: number, message: string) {
    this.#leftMs = limitMs;
    this.#error = new DeadlineError(message);
    const { signal } = this.#controller;
    this.#expired = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    // It is no failure if nothing waits.
    this.#expired.catch(() => {});
    this.resume();
  }

  /** Aborts when the time is used up, or with `expire`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the result, but no longer than the time that is left. The result may still come afterwards. */
  race<Result>(result: Promise<Result> | Result): Promise<Result> {
    return Promise.race([result, this.#expired]);
  }

  expire(error: DeadlineError): void {
    clearTimeout(this.#timer);
    this.#controller.abort(error);
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedMs;
  }

  resume(): void {
    if (this.signal.aborted) return;
    this.#startedMs = performance.now();
    this.#timer = setTimeout(() => this.expire(this.#error), this.#leftMs);
  }

  /** Call it when the result is there: a timer keeps the process alive. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Waits for a result within a time. The result may still come afterwards.
 *
 * @param start gets a signal that aborts when the time is used up
 */
export async function within<Result>(
  limitMs: number,
  message: string,
  start: (signal: AbortSignal) => Promise<Result> | Result,
): Promise<Result> {
  const deadline = new Deadline(limitMs, message);
  try {
    return await deadline.race(start(deadline.signal));
  } finally {
    deadline.stop();
  }
}

/** @throws {TypeError} if one of the times is out of range */
export function checkTimeouts(timeouts: Readonly<Record<string, number>>): void {
  for (const [name, timeoutMs] of Object.entries(timeouts)) {
    // Longer timers end at once.
    if (!(timeoutMs > 0 && timeoutMs < 2 ** 31))
      throw new TypeError(`${name} must be above 0 and below 2,147,483,648.`);
  }
}
