import type { QueuedDelivery } from './queued-delivery.ts';

/** The deliveries of one lane that wait in memory, in the order of their due times, then of their sequence. */
export class LaneQueue {
  readonly #deliveries: QueuedDelivery[] = [];
  /** The size of all bodies. */
  bodyBytes = 0;

  get length(): number {
    return this.#deliveries.length;
  }

  get first(): QueuedDelivery | undefined {
    return this.#deliveries[0];
  }

  get last(): QueuedDelivery | undefined {
    return this.#deliveries[this.#deliveries.length - 1];
  }

  add(queued: QueuedDelivery): void {
    this.bodyBytes += queued.delivery.body.length;
    const last = this.last;
    if (last === undefined || last.isBefore(queued)) this.#deliveries.push(queued);
    else this.#deliveries.splice(this.#indexFor(queued), 0, queued);
  }

  removeFirst(): QueuedDelivery | undefined {
    return this.#removed(this.#deliveries.shift());
  }

  removeLast(): QueuedDelivery | undefined {
    return this.#removed(this.#deliveries.pop());
  }

  #removed(queued: QueuedDelivery | undefined): QueuedDelivery | undefined {
    if (queued !== undefined) this.bodyBytes -= queued.delivery.body.length;
    return queued;
  }

  #indexFor(queued: QueuedDelivery): number {
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
