const buckets = 256;

/**
 * A map for a few thousand entries that soon leave it, in a process that runs for long. V8 replaces the table of a `Map` after
 * some additions, and the former table refers to the next one. A former table in the old generation then keeps all later ones,
 * with the entries that they had, until a full collection, even if each entry is deleted after a millisecond. Here the table
 * is never replaced.
 */
export class ShortLivedMap<Value> {
  readonly #buckets = Array.from({ length: buckets }, (): { readonly key: string; readonly value: Value }[] => []);

  get(key: string): Value | undefined {
    return this.#bucketOf(key).find((entry) => entry.key === key)?.value;
  }

  /** The key must not be in the map. */
  add(key: string, value: Value): void {
    this.#bucketOf(key).push({ key, value });
  }

  delete(key: string): void {
    const bucket = this.#bucketOf(key);
    const index = bucket.findIndex((entry) => entry.key === key);
    if (index !== -1) bucket.splice(index, 1);
  }

  #bucketOf(key: string): { readonly key: string; readonly value: Value }[] {
    let hash = 0;
    for (let index = 0; index < key.length; index += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0;
    return this.#buckets[hash & (buckets - 1)] ?? [];
  }
}
