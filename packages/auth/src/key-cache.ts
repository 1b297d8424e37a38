interface Lookup<Key> {
  /** The start of the lookup. The age of the result is measured from here, because the row may have been read then. */
  sinceMs: number;
  result: Promise<Key | null>;
}

interface KeyCacheOptions<Key> {
  find: (keyId: string, isProven: boolean) => Promise<Key | null>;
  monotonicMs: () => number;
  /** The age from which a key is no longer fresh. */
  maxAgeMs: number;
  maxSize: number;
}

/**
 * Remembers existing keys, or sessions. Concurrent lookups of the same key id are shared. Unknown key ids are not remembered, because an
 * attacker can invent any number of them.
 */
export function createKeyCache<Key>({ find, monotonicMs, maxAgeMs, maxSize }: KeyCacheOptions<Key>) {
  const found = new Map<string, { sinceMs: number; key: Key }>();
  /**
   * The lookups in flight, of proven and of other requests: a proven request must not wait for the connection of another one.
   * They never have more entries than waiting requests.
   */
  const inFlight = { proven: new Map<string, Lookup<Key>>(), other: new Map<string, Lookup<Key>>() };
  const isFresh = (sinceMs: number): boolean => monotonicMs() - sinceMs < maxAgeMs;

  function remember(keyId: string, key: Key, sinceMs: number): void {
    const present = found.get(keyId);
    if (present && present.sinceMs > sinceMs) return; // a newer lookup finished first
    found.delete(keyId);
    for (const oldest of found.keys()) {
      if (found.size < maxSize) break;
      found.delete(oldest);
    }
    found.set(keyId, { sinceMs, key });
  }

  async function findAndRemember(keyId: string, sinceMs: number, isProven: boolean): Promise<Key | null> {
    const key = await find(keyId, isProven);
    if (key) remember(keyId, key, sinceMs);
    else found.delete(keyId);
    return key;
  }

  return {
    /** The key as it was read last, however long ago. */
    peek(keyId: string): { key: Key; isFresh: boolean } | null {
      const known = found.get(keyId);
      return known ? { key: known.key, isFresh: isFresh(known.sinceMs) } : null;
    },

    /** Until it is read again. */
    forget(keyId: string): void {
      found.delete(keyId);
    },

    /** Reads the key, even if a fresh one is remembered. */
    async lookUp(keyId: string, isProven: boolean): Promise<Key | null> {
      const lookups = isProven ? inFlight.proven : inFlight.other;
      // A lookup that is too old is not shared, because it may have read the key before a revocation.
      const running = lookups.get(keyId);
      if (running && isFresh(running.sinceMs)) return running.result;

      const sinceMs = monotonicMs();
      const lookup: Lookup<Key> = { sinceMs, result: findAndRemember(keyId, sinceMs, isProven) };
      lookups.set(keyId, lookup);
      const forget = () => {
        if (lookups.get(keyId) === lookup) lookups.delete(keyId);
      };
      lookup.result.then(forget, forget);
      return lookup.result;
    },
  };
}
