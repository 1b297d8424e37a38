import type { StoredApiKey } from './stored-api-key.ts';

interface Lookup {
  /** The start of the lookup. The age of the result is measured from here, because the row may have been read then. */
  sinceMs: number;
  result: Promise<StoredApiKey | null>;
}

interface KeyCacheOptions {
  find: (keyId: string) => Promise<StoredApiKey | null>;
  monotonicMs: () => number;
  maxAgeMs: number;
  maxSize: number;
}

/**
 * Caches existing keys for `maxAgeMs`. Concurrent requests for the same key id share one lookup. Unknown key ids are not
 * cached, because an attacker can invent any number of them.
 */
export function createKeyCache({ find, monotonicMs, maxAgeMs, maxSize }: KeyCacheOptions) {
  const found = new Map<string, { sinceMs: number; key: StoredApiKey }>();
  /** The lookups in flight. It never has more entries than waiting requests. */
  const inFlight = new Map<string, Lookup>();

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

  async function findAndRemember(keyId: string, sinceMs: number): Promise<StoredApiKey | null> {
    const key = await find(keyId);
    if (key) remember(key, sinceMs);
    else found.delete(keyId);
    return key;
  }

  function lookUp(keyId: string, sinceMs: number): Promise<StoredApiKey | null> {
    const lookup: Lookup = { sinceMs, result: findAndRemember(keyId, sinceMs) };
    inFlight.set(keyId, lookup);
    const forget = () => {
      if (inFlight.get(keyId) === lookup) inFlight.delete(keyId);
    };
    lookup.result.then(forget, forget);
    return lookup.result;
  }

  return {
    async find(keyId: string): Promise<StoredApiKey | null> {
      const nowMs = monotonicMs();
      const isFresh = (sinceMs: number) => nowMs - sinceMs < maxAgeMs;

      const known = found.get(keyId);
      if (known && isFresh(known.sinceMs)) return known.key;
      // A lookup that is too old is not shared, because it may have read the key before a revocation.
      const lookup = inFlight.get(keyId);
      if (lookup && isFresh(lookup.sinceMs)) return lookup.result;
      return lookUp(keyId, nowMs);
    },
  };
}
