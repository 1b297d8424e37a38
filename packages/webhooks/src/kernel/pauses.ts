import type { Clock } from './clock.ts';

/** Waits that end early when the work stops. */
export class Pauses {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #ends = new Set<() => void>();
  #isStopped = false;

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** Resolves after this time with true, or with false as soon as the work stops. */
  wait(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve(false);
      const end = (): void => {
        cancel();
        this.#ends.delete(end);
        resolve(!this.#isStopped);
      };
      const cancel = this.#clock.setTimer(end, delayMs);
      this.#ends.add(end);
    });
  }

  stop(): void {
    this.#isStopped = true;
    for (const end of this.#ends) end();
  }
}
