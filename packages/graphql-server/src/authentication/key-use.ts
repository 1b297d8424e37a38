import { LRUCache } from 'lru-cache';
import type { RequestState } from '../request-state.ts';

/** A use of an API key. */
export interface KeyUse {
  keyId: string;
  at: Date;
  /** Of the client. */
  address: string;
  /** Of the interface. Null if the request has asked for none that is served. */
  version: string | null;
}

export interface KeyUseOptions {
  /** Must not throw. */
  recordUse: (use: KeyUse) => void;
  now: () => Date;
}

const recordEveryMs = 60_000;
const keysMax = 10_000;

/** Returns a function that records that a request was sent with a key, at most once a minute per key. */
export function createKeyUse({ recordUse, now }: KeyUseOptions) {
  const recorded = new LRUCache<string, true>({ max: keysMax, ttl: recordEveryMs });

  return ({ caller, portal, address, version }: RequestState): void => {
    const keyId = caller?.keyId;
    // In the portal, it is the key that created the link.
    if (keyId === undefined || portal || recorded.has(keyId)) return;
    recorded.set(keyId, true);
    recordUse({ keyId, at: now(), address, version: version?.version ?? null });
  };
}
