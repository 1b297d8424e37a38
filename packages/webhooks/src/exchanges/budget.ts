/** An allowance that is restored over time. */
export class Budget {
  readonly #maximum: number;
  readonly #perMs: number;
  #left: number;
  #restoredAtMs = -Infinity;

  /** @param maximum what can be taken at once, after a while without use */
  constructor(maximum: number, perSecond: number) {
    this.#maximum = maximum;
    this.#perMs = perSecond / 1_000;
    this.#left = maximum;
  }

  /** Takes all or nothing. */
  take(amount: number, nowMs: number): boolean {
    if (nowMs > this.#restoredAtMs) {
      this.#left = Math.min(this.#maximum, this.#left + (nowMs - this.#restoredAtMs) * this.#perMs);
      this.#restoredAtMs = nowMs;
    }
    if (this.#left < amount) return false;
    this.#left -= amount;
    return true;
  }

  giveBack(amount: number): void {
    this.#left = Math.min(this.#maximum, this.#left + amount);
  }
}
