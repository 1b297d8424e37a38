/** Limits the requests from each address, by a bucket of tokens per address. */
export interface AddressLimiter {
  /** Takes a token. Returns false if the bucket is empty. */
  take(address: string): boolean;
  /** Puts a token back, for a request that turned out to be valid. */
  refund(address: string): void;
}

interface AddressLimiterOptions {
  /** The size of a bucket. */
  atOnce: number;
  /** The tokens that a bucket regains in a second. */
  perSecond: number;
  monotonicMs: () => number;
  /** The maximum number of buckets. Beyond it, the one that was used least recently is dropped. */
  maxSize: number;
}

export function createAddressLimiter(options: AddressLimiterOptions): AddressLimiter {
  const { atOnce, perSecond, monotonicMs, maxSize } = options;
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function change(address: string, by: 1 | -1): boolean {
    const nowMs = monotonicMs();
    const { tokens, atMs } = buckets.get(address) ?? { tokens: atOnce, atMs: nowMs };
    const changed = Math.min(atOnce, tokens + ((nowMs - atMs) / 1000) * perSecond) + by;
    if (changed < 0) return false;
    buckets.delete(address); // moves the bucket to the end of the order in which buckets are dropped
    for (const oldest of buckets.keys()) {
      if (buckets.size < maxSize) break;
      buckets.delete(oldest);
    }
    buckets.set(address, { tokens: Math.min(atOnce, changed), atMs: nowMs });
    return true;
  }

  return { take: (address) => change(address, -1), refund: (address) => void change(address, 1) };
}
