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

  reset(): void {
    this.#delayMs = firstMs;
  }
}
