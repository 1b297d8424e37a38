import { rememberedMs, type WebhookStore } from './store.ts';

export interface MemoryStoreOptions {
  /** How many ids are remembered. The oldest is forgotten first. Defaults to 10,000. */
  maximum?: number;
}

/**
 * Remembers deliveries in the memory of this process. For tests, and for receivers of one process whose handlers may run again
 * after a restart.
 */
export function memoryStore({ maximum = 10_000 }: MemoryStoreOptions = {}): WebhookStore {
  if (!Number.isSafeInteger(maximum) || maximum < 1) throw new TypeError('maximum must be an integer of at least 1.');
  /** When each was processed, the oldest first. */
  const processedAtMs = new Map<string, number>();
  const running = new Set<string>();
  const leases = new Map<string, { position: string | null; holder: string | null; untilMs: number }>();

  function removeOldest(nowMs: number): void {
    for (const [id, atMs] of processedAtMs) {
      if (processedAtMs.size <= maximum && nowMs - atMs < rememberedMs) return;
      processedAtMs.delete(id);
    }
  }

  return {
    async once(id, work, _signal, alias = id, again = false) {
      const ids = [id, alias];
      if (ids.some((each) => running.has(each))) return 'busy';
      removeOldest(Date.now());
      if (!again && ids.some((each) => processedAtMs.has(each))) return 'duplicate';
      for (const each of ids) running.add(each);
      try {
        await work(undefined);
      } finally {
        for (const each of ids) running.delete(each);
      }
      for (const each of ids) {
        // Moves one that was processed before to the end.
        processedAtMs.delete(each);
        processedAtMs.set(each, Date.now());
      }
      removeOldest(Date.now());
      return 'processed';
    },

    async forget(which) {
      const isForgotten =
        'ids' in which
          ? (id: string) => which.ids.includes(id)
          : (_: string, atMs: number) => atMs >= which.since.getTime();
      const ids = [...processedAtMs].filter(([id, atMs]) => isForgotten(id, atMs)).map(([id]) => id);
      for (const id of ids) processedAtMs.delete(id);
      return ids.length;
    },

    positions: {
      rememberedMs,
      rememberedCount: maximum,
      async take(subscriptionId, holder, leaseMs) {
        const {
          position,
          holder: other,
          untilMs,
        } = leases.get(subscriptionId) ?? { position: null, holder: null, untilMs: 0 };
        if (other !== null && untilMs > performance.now()) return null;
        leases.set(subscriptionId, { position, holder, untilMs: performance.now() + leaseMs });
        return { position };
      },
      async keep(subscriptionId, holder, leaseMs, position) {
        const lease = leases.get(subscriptionId);
        if (lease?.holder !== holder) return false;
        lease.position = position ?? lease.position;
        lease.untilMs = performance.now() + leaseMs;
        return true;
      },
      async release(subscriptionId, holder) {
        const lease = leases.get(subscriptionId);
        if (lease?.holder === holder) lease.holder = null;
      },
    },
  };
}
