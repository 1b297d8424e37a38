/** Lets a number of works run at once. Others wait for their turn, in order. */
export class Turnstile {
  readonly #size: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Runs the work when there is room.
   *
   * @param waitMs how long to wait for room
   * @throws {Error} `refusal` if there was none
   */
  async run<Result>(waitMs: number, refusal: Error, work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#size) await this.#turn(waitMs, refusal);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      // The next one takes over the room.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(waitMs: number, refusal: Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(start);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(start);
        reject(refusal);
      }, waitMs);
      this.#waiting.add(start);
    });
  }
}
