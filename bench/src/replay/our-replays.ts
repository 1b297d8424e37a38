import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@deedwire/domain';
import { createBenchStore } from '../bench-store.ts';
import { type DeliveryRange, markFailed, readReplay, startReplay, stopReplay } from '../delivery/ours/engine-tables.ts';

/** The most that the API accepts as `maxPerSecond`. */
export const perSecond = 500;

const pollMs = 10;
// A guard against hanging only.
const timeoutMs = 300_000;

/** A replay in progress, or one that has ended. */
export interface RunningReplay {
  queued(): Promise<number>;
  /** Resolves when it has ended, with the number of deliveries that it has queued. */
  ended(): Promise<number>;
  cancel(): Promise<void>;
}

/** Replays of our engine. Each account has one subscription. */
export interface OurReplays {
  /** Makes every `step`th of the newest deliveries count as failed. Returns the range of all of them. */
  markFailed(account: AccountId, newest: { deliveries: number; step: number }): Promise<DeliveryRange>;
  start(account: AccountId, range: DeliveryRange, onlyFailed: boolean): Promise<RunningReplay>;
  close(): Promise<void>;
}

/** @param databaseUrl that of `OurSystem` */
export function createOurReplays(databaseUrl: string): OurReplays {
  const store = createBenchStore(databaseUrl);
  return {
    markFailed: (account, newest) => markFailed(store, account, newest),

    async start(account, range, onlyFailed) {
      const id = await store.transaction((transaction) =>
        startReplay(transaction, account, { range, onlyFailed, perSecond }),
      );
      return {
        queued: async () => (await readReplay(store, account, id)).queued,
        async ended() {
          const deadline = performance.now() + timeoutMs;
          for (;;) {
            const { endedAt, queued } = await readReplay(store, account, id);
            if (endedAt !== null) return queued;
            if (performance.now() > deadline) throw new Error('The replay does not end.');
            await sleep(pollMs);
          }
        },
        cancel: () => store.transaction((transaction) => stopReplay(transaction, account, id)),
      };
    },

    close: () => store.close(),
  };
}
