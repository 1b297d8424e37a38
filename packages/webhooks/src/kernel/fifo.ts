/** A queue. `Array.shift` moves all elements, which takes a millisecond once there are hundreds of thousands. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #start = 0;

  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  /** Returns an item to the front. */
  addFirst(item: Item): void {
    if (this.#start === 0) this.#items.unshift(item);
    else {
      this.#start -= 1;
      this.#items[this.#start] = item;
    }
  }

  removeFirst(): Item | undefined {
    const { first } = this;
    this.#items[this.#start] = undefined;
    this.#start += 1;
    // Half of the array at a time, so that each item is moved once on average.
    if (this.#start * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return first;
  }
}
