import type { StoredApiKey } from './stored-api-key.ts';

interface Lookup {
  /** The start of the lookup. The age of the result is measured from here, because the row may have been read then. */
  sinceMs: number;
  result: Promise<StoredApiKey | null>;
}

interface KeyCacheOptions {
  find: (keyId: string, isProven: boolean) => Promise<StoredApiKey | null>;
  monotonicMs: () => number;
  /** The age from which a key is no longer fresh. */
  maxAgeMs: number;
  maxSize: number;
}

/**
 * Remembers existing keys. Concurrent lookups of the same key id are shared. Unknown key ids are not remembered, because an
 * attacker can invent any number of them.
 */
export function createKeyCache({ find, monotonicMs, maxAgeMs, maxSize }: KeyCacheOptions) {
  const found = new Map<string, { sinceMs: number; key: StoredApiKey }>();
  /**
   * The lookups in flight, of proven and of other requests: a proven request must not wait for the connection of another one.
   * They never have more entries than waiting requests.
   */
  const inFlight = { proven: new Map<string, Lookup>(), other: new Map<string, Lookup>() };
  const isFresh = (sinceMs: number): boolean => monotonicMs() - sinceMs < maxAgeMs;

  function remember(key: StoredApiKey, sinceMs: number): void {
    const present = found.get(key.keyId);
    if (present && present.sinceMs > sinceMs) return; // a newer lookup finished first
    found.delete(key.keyId);
    for (const oldest of found.keys()) {
      if (found.size < maxSize) break;
      found.delete(oldest);
    }
    found.set(key.keyId, { sinceMs, key });
  }

  async function findAndRemember(keyId: string, sinceMs: number, isProven: boolean): Promise<StoredApiKey | null> {
    const key = await find(keyId, isProven);
    if (key) remember(key, sinceMs);
    else found.delete(keyId);
    return key;
  }

  return {
    /** The key as it was read last, however long ago. */
    peek(keyId: string): { key: StoredApiKey; isFresh: boolean } | null {
      const known = found.get(keyId);
      return known ? { key: known.key, isFresh: isFresh(known.sinceMs) } : null;
    },

    /** Reads the key, even if a fresh one is remembered. */
    async lookUp(keyId: string, isProven: boolean): Promise<StoredApiKey | null> {
      const lookups = isProven ? inFlight.proven : inFlight.other;
      // A lookup that is too old is not shared, because it may have read the key before a revocation.
      const running = lookups.get(keyId);
      if (running && isFresh(running.sinceMs)) return running.result;

      const sinceMs = monotonicMs();
      const lookup: Lookup = { sinceMs, result: findAndRemember(keyId, sinceMs, isProven) };
      lookups.set(keyId, lookup);
      const forget = () => {
        if (lookups.get(keyId) === lookup) lookups.delete(keyId);
      };
      lookup.result.then(forget, forget);
      return lookup.result;
    },
  };
}
