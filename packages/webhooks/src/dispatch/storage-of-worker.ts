import { StoreUnavailableError } from '@deedwire/store';
import { FencedOutError } from '../fence/fenced-out-error.ts';
import type { DispatchStorage } from './storage.ts';

/**
 * Adds a report when another worker has taken over. Results that can no longer be recorded count as stale: the new
 * owner sends these deliveries again.
 */
export function storageOfWorker(storage: DispatchStorage, onFencedOut: () => void): DispatchStorage {
  return {
    ...storage,
    async settle(batch) {
      try {
        return await storage.settle(batch);
      } catch (error) {
        if (!(error instanceof FencedOutError)) throw error;
        onFencedOut();
        return new Map();
      }
    },
    async countClaims(deliveries) {
      try {
        await storage.countClaims(deliveries);
      } catch (error) {
        if (!(error instanceof FencedOutError)) throw error;
        onFencedOut();
        // The lanes are about to be closed. Until then, no delivery may be sent that was not counted.
        throw new StoreUnavailableError(error);
      }
    },
  };
}
