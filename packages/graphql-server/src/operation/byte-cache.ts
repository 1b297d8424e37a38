/** The part of the limit that entries take which were read at least once. The rest is for entries that were not. */
const sharedPart = 3 / 4;

/** Caches values up to a limit in bytes and discards the least recently used ones. */
export interface ByteCache<Value> {
  get(key: string): Value | undefined;
  /** Does nothing if the key is cached, or if `bytes` exceeds what the cache has for entries that were not read yet. */
  set(key: string, value: Value, bytes: number): void;
  /** The sum of the sizes of all entries. */
  readonly bytes: number;
}

/**
 * Entries that were never read compete only with each other, so that a client that sends a new document with each request
 * cannot push out the documents that clients send repeatedly.
 */
export function createByteCache<Value>(maxBytes: number): ByteCache<Value> {
  const fresh = createSegment<Value>(maxBytes * (1 - sharedPart));
  const used = createSegment<Value>(maxBytes * sharedPart);
  /** The most recently read entry. Reading it again changes nothing, so that it costs nothing. */
  let latest: { key: string; value: Value } | null = null;

  return {
    get(key) {
      if (latest?.key === key) return latest.value;
      const known = used.take(key) ?? fresh.take(key);
      if (!known) return undefined;
      latest = { key, value: known.value };
      // An entry that `used` discards returns to the fresh ones.
      for (const [discardedKey, discarded] of used.add(key, known)) fresh.add(discardedKey, discarded);
      return known.value;
    },
    set(key, value, bytes) {
      if (bytes <= fresh.maxBytes && !used.has(key) && !fresh.has(key)) fresh.add(key, { value, bytes });
    },
    get bytes() {
      return fresh.bytes + used.bytes;
    },
  };
}

interface Entry<Value> {
  value: Value;
  bytes: number;
}

function createSegment<Value>(maxBytes: number) {
  /** The least recently used entry comes first. */
  const entries = new Map<string, Entry<Value>>();
  let bytes = 0;

  function take(key: string): Entry<Value> | undefined {
    const entry = entries.get(key);
    if (entry && entries.delete(key)) bytes -= entry.bytes;
    return entry;
  }

  return {
    maxBytes,
    has: (key: string) => entries.has(key),
    take,
    /** Returns the entries that were discarded for this one. */
    add(key: string, entry: Entry<Value>): [string, Entry<Value>][] {
      entries.set(key, entry);
      bytes += entry.bytes;
      const discarded: [string, Entry<Value>][] = [];
      for (const [oldestKey, oldest] of entries) {
        if (bytes <= maxBytes) break;
        take(oldestKey);
        discarded.push([oldestKey, oldest]);
      }
      return discarded;
    },
    get bytes() {
      return bytes;
    },
  };
}
