/** What the queue needs to know about a delivery. */
export interface Ordered<Self> {
  readonly delivery: { readonly body: { readonly length: number } };
  isBefore(other: Self): boolean;
}

/** The deliveries of one lane that wait in memory, ordered by due time, then by sequence. */
export class LaneQueue<Queued extends Ordered<Queued>> {
  readonly #deliveries: Queued[] = [];
  /** The size of all bodies. */
  bodyBytes = 0;

  get length(): number {
    return this.#deliveries.length;
  }

  get first(): Queued | undefined {
    return this.#deliveries[0];
  }

  get last(): Queued | undefined {
    return this.#deliveries[this.#deliveries.length - 1];
  }

  add(queued: Queued): void {
    this.bodyBytes += queued.delivery.body.length;
    const last = this.last;
    if (last === undefined || last.isBefore(queued)) this.#deliveries.push(queued);
    else this.#deliveries.splice(this.#indexFor(queued), 0, queued);
  }

  removeFirst(): Queued | undefined {
    return this.#removed(this.#deliveries.shift());
  }

  removeLast(): Queued | undefined {
    return this.#removed(this.#deliveries.pop());
  }

  #removed(queued: Queued | undefined): Queued | undefined {
    if (queued !== undefined) this.bodyBytes -= queued.delivery.body.length;
    return queued;
  }

  #indexFor(queued: Queued): number {
    let low = 0;
    let high = this.#deliveries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#deliveries[middle]?.isBefore(queued)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
