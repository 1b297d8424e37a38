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
  async during(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const current = new AbortController();
    this.#current = current;
    const startMs = performance.now();
    for (const occupied of this.#occupied) occupied.pause();
    try {
      await wait(current.signal);
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

/** Those of an operation, by the context of its resolvers. */
export function pausesOf(context: unknown): OperationPauses | undefined {
  if (typeof context !== 'object' || context === null || !('pauses' in context)) return undefined;
  return context.pauses instanceof OperationPauses ? context.pauses : undefined;
}
