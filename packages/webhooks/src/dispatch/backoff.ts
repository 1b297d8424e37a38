const firstMs = 50;
const maxMs = 2_000;

/** Delays before calls to storage that is unavailable: 50 ms, doubling to 2 s. */
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
