import type { StoredApiKey } from './stored-api-key.ts';

interface Lookup {
  /** When the lookup began. Its answer may be as old as that, so ages count from here. */
  sinceMs: number;
  answer: Promise<StoredApiKey | null>;
}

interface KeyCacheOptions {
  find: (keyId: string) => Promise<StoredApiKey | null>;
  monotonicMs: () => number;
  maxAgeMs: number;
  maxSize: number;
}

/**
 * Remembers keys that exist, for a moment; asks once for a key id that many requests want at the same time. Unknown key
 * ids are not remembered: anybody can make up any number of them.
 */
export function createKeyCache({ find, monotonicMs, maxAgeMs, maxSize }: KeyCacheOptions) {
  const found = new Map<string, { sinceMs: number; key: StoredApiKey }>();
  /** Never more entries than requests that wait. */
  const running = new Map<string, Lookup>();

  function remember(key: StoredApiKey, sinceMs: number): void {
    const present = found.get(key.keyId);
    if (present && present.sinceMs > sinceMs) return; // a slower, older lookup
    found.delete(key.keyId);
    for (const oldest of found.keys()) {
      if (found.size < maxSize) break;
      found.delete(oldest);
    }
    found.set(key.keyId, { sinceMs, key });
  }

  async function ask(keyId: string, sinceMs: number): Promise<StoredApiKey | null> {
    const key = await find(keyId);
    if (key) remember(key, sinceMs);
    else found.delete(keyId);
    return key;
  }

  function lookUp(keyId: string, sinceMs: number): Promise<StoredApiKey | null> {
    const lookup: Lookup = { sinceMs, answer: ask(keyId, sinceMs) };
    running.set(keyId, lookup);
    const forget = () => {
      if (running.get(keyId) === lookup) running.delete(keyId);
    };
    lookup.answer.then(forget, forget);
    return lookup.answer;
  }

  return {
    async find(keyId: string): Promise<StoredApiKey | null> {
      const nowMs = monotonicMs();
      const isFresh = (sinceMs: number) => nowMs - sinceMs < maxAgeMs;

      const known = found.get(keyId);
      if (known && isFresh(known.sinceMs)) return known.key;
      // Too old a lookup is not joined: it may have read the key before a revocation that this request must honour.
      const underWay = running.get(keyId);
      if (underWay && isFresh(underWay.sinceMs)) return underWay.answer;
      return lookUp(keyId, nowMs);
    },
  };
}
