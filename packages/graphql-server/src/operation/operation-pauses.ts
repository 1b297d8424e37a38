import type { MilliPoints } from '@deedwire/operation-analysis';

/** Something that an operation occupies while it runs, and not while it waits. */
export interface Pausable {
  pause(): void;
  /** The operation goes on once it resolves. If it rejects, the field that waited fails. */
  resume(): void | Promise<void>;
}

/** Lets an operation wait, without its points, its slot and its deadline. One field of an operation waits at a time. */
export class OperationPauses {
  readonly #occupied: Pausable[] = [];
  #current: AbortController | null = null;
  #isOver = false;
  #waitedMs = 0;

  add(occupied: Pausable): void {
    this.#occupied.push(occupied);
  }

  /** Whether a field can wait: no other one does. */
  get canWait(): boolean {
    return this.#current === null && !this.#isOver;
  }

  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** @param wait must end soon after its signal */
  async during<Result>(wait: (signal: AbortSignal) => Result | PromiseLike<Result>): Promise<Result> {
    const current = new AbortController();
    this.#current = current;
    const startMs = performance.now();
    for (const occupied of this.#occupied) occupied.pause();
    try {
      return await wait(current.signal);
    } finally {
      this.#waitedMs += performance.now() - startMs;
      this.#current = null;
      if (!this.#isOver) for (const occupied of this.#occupied) await occupied.resume();
    }
  }

  /** Ends a wait. */
  release(): void {
    this.#current?.abort();
  }

  /** The operation is over. What it occupied and paused stays paused. */
  end(): void {
    this.#isOver = true;
    this.release();
  }
}

/** What the resolvers of an operation do beyond its price. They add to it while they run. */
export interface ExtraWork {
  cost: MilliPoints;
  /** Pages whose rows are in `cost` (`unreturned`), or whose items a field has returned. See `countRowsOfPages`. */
  pages?: Map<object, 'unreturned' | 'returned'>;
}

/** What running an operation needs of the context of its resolvers. */
export interface WorkContext {
  /** Undefined if no resolver does extra work. */
  readonly extraWork?: ExtraWork;
  /** Undefined if no resolver waits. */
  readonly pauses?: OperationPauses;
}
