import type { QueueEntry, QueuePosition } from './queue-entry.ts';

/** Entries in the order of their positions. Removing the first and adding a last one take constant time. */
export class EntryList {
  #entries: QueueEntry[] = [];
  #head = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  get first(): QueueEntry | undefined {
    return this.#entries[this.#head];
  }

  get last(): QueueEntry | undefined {
    return this.size === 0 ? undefined : this.#entries.at(-1);
  }

  removeFirst(): QueueEntry | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#entries.length) this.#replace([]);
    else if (this.#head >= 1_024 && this.#head * 2 >= this.#entries.length) this.#compact();
    return entry;
  }

  add(entry: QueueEntry): void {
    const { last } = this;
    if (last === undefined || last.position < entry.position) this.#entries.push(entry);
    else this.#entries.splice(this.#indexOf(entry.position), 0, entry);
  }

  /** Adds entries that are in order. Fast if they come before all others. */
  restore(entries: readonly QueueEntry[]): void {
    const last = entries.at(-1);
    const { first } = this;
    if (last === undefined) return;
    if (first === undefined || last.position < first.position) {
      this.#replace([...entries, ...this.#entries.slice(this.#head)]);
    } else for (const entry of entries) this.add(entry);
  }

  /** Removes and returns the last entries in order, so that `size` are left. */
  cutTo(size: number): QueueEntry[] {
    this.#compact();
    return this.#entries.splice(size);
  }

  removeAll(): QueueEntry[] {
    return this.cutTo(0);
  }

  #compact(): void {
    if (this.#head > 0) this.#replace(this.#entries.slice(this.#head));
  }

  #replace(entries: QueueEntry[]): void {
    this.#entries = entries;
    this.#head = 0;
  }

  /** The index of the first entry with a higher position. */
  #indexOf(position: QueuePosition): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.position ?? Infinity) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
