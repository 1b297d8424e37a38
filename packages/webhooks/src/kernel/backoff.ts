const firstMs = 50;
const maxMs = 2_000;

/** Retry delays while storage is unavailable: 50 ms, doubling up to 2 s. */
export class Backoff {
  #delayMs = firstMs;

  next(): number {
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, maxMs);
    return delayMs;
  }

  /** Call it after a success. Returns whether the call before it had failed. */
  reset(): boolean {
    const hadFailed = this.#delayMs !== firstMs;
    this.#delayMs = firstMs;
    return hadFailed;
  }
}
