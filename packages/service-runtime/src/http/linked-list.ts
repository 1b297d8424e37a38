/** An entry of a `LinkedList`. It is in at most one list at a time, and nothing else changes these fields. */
export interface Linked<Entry> {
  previous: Entry | null;
  next: Entry | null;
}

/**
 * Appends and removes in constant time. A Set would do the same, but one that changes with every request keeps memory: V8 links
 * each of its tables to the next one, and a dead table in the old generation keeps all later ones alive.
 */
export class LinkedList<Entry extends Linked<Entry>> {
  #first: Entry | null = null;
  #last: Entry | null = null;

  get first(): Entry | null {
    return this.#first;
  }

  append(entry: Entry): void {
    entry.previous = this.#last;
    entry.next = null;
    if (this.#last) this.#last.next = entry;
    else this.#first = entry;
    this.#last = entry;
  }

  /** @param entry in this list */
  remove(entry: Entry): void {
    const { previous, next } = entry;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    entry.previous = null;
    entry.next = null;
  }
}
