/** Lets one log line in a second pass for each key, so that one client or address cannot fill the log. */
export interface LineThrottle {
  /** Returns how many lines of the key were suppressed since the last one that passed. Null if this one is suppressed. */
  pass(key: string): number | null;
}

export interface LineThrottleOptions {
  monotonicMs: () => number;
  /** The maximum number of keys. Beyond it, the one whose line passed longest ago is dropped. Defaults to 10,000. */
  maxSize?: number;
}

const periodMs = 1000;

export function createLineThrottle({ monotonicMs, maxSize = 10_000 }: LineThrottleOptions): LineThrottle {
  const passed = new Map<string, { atMs: number; suppressed: number }>();
  return {
    pass(key) {
      const nowMs = monotonicMs();
      const last = passed.get(key);
      if (last && nowMs - last.atMs < periodMs) {
        last.suppressed += 1;
        return null;
      }
      passed.delete(key); // moves it to the end of the order in which keys are dropped
      for (const oldest of passed.keys()) {
        if (passed.size < maxSize) break;
        passed.delete(oldest);
      }
      passed.set(key, { atMs: nowMs, suppressed: 0 });
      return last?.suppressed ?? 0;
    },
  };
}
