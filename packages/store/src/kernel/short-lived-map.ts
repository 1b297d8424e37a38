/**
 * A class, because V8 can decide to create the objects of one literal in the old generation, after a time in which they lived
 * long. Each would then keep its value until a full collection.
 */
class Entry<Key, Value> {
  readonly key: Key;
  readonly value: Value;

  constructor(key: Key, value: Value) {
    this.key = key;
    this.value = value;
  }
}

const entriesPerBucket = 4;
const bucketsMax = 16_384;

/**
 * A map for entries that soon leave it, in a process that runs for long. V8 replaces the table of a `Map` after some additions, and
 * the former table refers to the next one. A former table in the old generation then keeps all later ones, with the entries that
 * they had, until a full collection, even if each entry is deleted after a millisecond. Here a table is replaced only when the
 * map is larger than ever before, and refers to no other. A text that becomes a key of a `Map`, or that is looked up in one, moves to
 * the old generation too; here it stays where it is. Entries have no order. Numbers as keys should be whole and differ in their
 * last bits. A process through which 600,000 entries of 1 kB pass has 122 MB, and 147 to 158 MB with a `Map`.
 */
export class ShortLivedMap<Key extends string | number, Value> {
  #buckets: Entry<Key, Value>[][] = [[]];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: Key): Value | undefined {
    const bucket = this.#bucketOf(key);
    for (let index = 0; index < bucket.length; index += 1) if (bucket[index]?.key === key) return bucket[index]?.value;
    return undefined;
  }

  set(key: Key, value: Value): void {
    const bucket = this.#bucketOf(key);
    for (let index = 0; index < bucket.length; index += 1) {
      if (bucket[index]?.key !== key) continue;
      bucket[index] = new Entry(key, value);
      return;
    }
    bucket.push(new Entry(key, value));
    this.#size += 1;
    if (this.#size > this.#buckets.length * entriesPerBucket && this.#buckets.length < bucketsMax) this.#grow();
  }

  delete(key: Key): void {
    const bucket = this.#bucketOf(key);
    for (let index = 0; index < bucket.length; index += 1) {
      if (bucket[index]?.key !== key) continue;
      bucket.splice(index, 1);
      this.#size -= 1;
      return;
    }
  }

  values(): Value[] {
    return this.#buckets.flatMap((bucket) => bucket.map(({ value }) => value));
  }

  #bucketOf(key: Key): Entry<Key, Value>[] {
    return this.#buckets[hashOf(key) & (this.#buckets.length - 1)] ?? [];
  }

  #grow(): void {
    const entries = this.#buckets.flat();
    this.#buckets = Array.from({ length: this.#buckets.length * 4 }, () => []);
    for (const entry of entries) this.#bucketOf(entry.key).push(entry);
  }
}

function hashOf(key: string | number): number {
  if (typeof key === 'number') return key | 0;
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0;
  return hash;
}
