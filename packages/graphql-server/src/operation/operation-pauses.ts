import type { MilliPoints } from '@deedwire/operation-analysis';

/** A resource that an operation releases while it waits. */
export interface Pausable {
  pause(): void;
  /** Acquires the resource again. If it rejects, the field that waited fails. */
  resume(): void | Promise<void>;
}

/** Lets one field of an operation wait at a time. Meanwhile, the operation releases its points, its slot and its deadline. */
export class OperationPauses {
  readonly #resources: Pausable[] = [];
  #current: AbortController | null = null;
  #isOver = false;
  #waitedMs = 0;

  add(resource: Pausable): void {
    this.#resources.push(resource);
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
    for (const resource of this.#resources) resource.pause();
    try {
      return await wait(current.signal);
    } finally {
      this.#waitedMs += performance.now() - startMs;
      this.#current = null;
      for (const resource of this.#resources) {
        // It can end while one is acquired.
        if (this.#isOver) break;
        await resource.resume();
      }
    }
  }

  /** Ends a wait. */
  release(): void {
    this.#current?.abort();
  }

  /** Ends the operation, and a wait. Resources that are released stay so. */
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

/** What the plugins read of the context of resolvers. */
export interface ContextOfOperation extends WorkContext {
  /** Added to `extensions` of the response. */
  readonly extensions: object;
}
