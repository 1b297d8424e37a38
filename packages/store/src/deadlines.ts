/** Something that has to end in time. */
export interface Deadline {
  dueMs: number;
  onLate: () => void;
  previous: Deadline | null;
  next: Deadline | null;
  isOpen: boolean;
}

/**
 * Deadlines of the same length. All of them share one timer, which hardly ever changes: a timer of Node for each of them takes
 * several times as long as what it guards may take. The timer does not keep the process alive.
 */
export class Deadlines {
  readonly ms: number;
  /** In the order in which they are due. */
  #first: Deadline | null = null;
  #last: Deadline | null = null;
  #hasTimer = false;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** @param onLate called unless the deadline ends in time. Must not throw. */
  start(onLate: () => void): Deadline {
    const deadline: Deadline = {
      dueMs: performance.now() + this.ms,
      onLate,
      previous: this.#last,
      next: null,
      isOpen: true,
    };
    if (this.#last) this.#last.next = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    if (!this.#hasTimer) this.#checkIn(this.ms);
    return deadline;
  }

  end(deadline: Deadline): void {
    if (!deadline.isOpen) return;
    deadline.isOpen = false;
    const { previous, next } = deadline;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    deadline.previous = null;
    deadline.next = null;
  }

  #checkIn(ms: number): void {
    this.#hasTimer = true;
    setTimeout(() => this.#check(), ms).unref();
  }

  #check(): void {
    this.#hasTimer = false;
    const nowMs = performance.now();
    while (this.#first && this.#first.dueMs <= nowMs) {
      const late = this.#first;
      this.end(late);
      late.onLate();
    }
    // `onLate` may have started a timer.
    if (this.#first && !this.#hasTimer) this.#checkIn(this.#first.dueMs - nowMs);
  }
}
