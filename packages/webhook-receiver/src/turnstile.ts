/** Lets a number of works run at once. Others wait for their turn, in order. */
export class Turnstile {
  readonly #size: () => number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  /** @param size is read whenever a work could start */
  constructor(size: () => number) {
    this.#size = size;
  }

  /**
   * Runs the work when there is room.
   *
   * @param giveUp ends the wait
   * @returns null if there was no room before `giveUp`, so that the work has not started
   */
  async run<Result>(work: () => Promise<Result>, giveUp?: AbortSignal): Promise<Result | null> {
    if (giveUp?.aborted === true) return null;
    if (!this.#enter() && !(await this.#turn(giveUp))) return null;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      const [next] = this.#waiting;
      if (next !== undefined && this.#enter()) next();
    }
  }

  #enter(): boolean {
    if (this.#running >= this.#size()) return false;
    this.#running += 1;
    return true;
  }

  #turn(giveUp: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasRoom: boolean): void => {
        this.#waiting.delete(start);
        giveUp?.removeEventListener('abort', leave);
        resolve(hasRoom);
      };
      const start = (): void => end(true);
      const leave = (): void => end(false);
      this.#waiting.add(start);
      giveUp?.addEventListener('abort', leave);
    });
  }
}
