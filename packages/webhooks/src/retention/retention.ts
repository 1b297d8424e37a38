import { type Store, withTableLock } from '@deedwire/store';
import { selectTime } from '@deedwire/store/time';
import type { RetentionEvent, Reports } from '../events.ts';
import { type Clock, Pauses } from '../kernel/clock.ts';
import { expire } from './expire.ts';
import type { RetentionDays } from './partitions.ts';
import { keepPartitions } from './sql/partitions.ts';

export interface RetentionOptions extends Reports<RetentionEvent> {
  store: Store;
  /** A direct connection, for the lock that one worker at a time holds. */
  directUrl: string;
  retentionDays: RetentionDays;
  clock: Pick<Clock, 'setTimer'>;
  /** Milliseconds since 1970 by the clock of this machine. */
  machineNowMs?: () => number;
}

export interface Retention {
  /** Runs in the background: now, and then every hour. One worker at a time runs it. */
  start(): void;
  /** Resolves when no statement is running. */
  stop(): Promise<void>;
}

const runEveryMs = 3_600_000;
const repeatAfterMs = 60_000;

export function createRetention(options: RetentionOptions): Retention {
  const { store, directUrl, retentionDays, clock, onEvent, machineNowMs = Date.now } = options;
  const pauses = new Pauses(clock);
  const wait = (ms: number): Promise<boolean> => pauses.wait(ms);
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await keepPartitions(store, onEvent);
    // The earlier of two clocks, because one that is ahead would delete data too early.
    const databaseNow = await selectTime(store);
    const now = new Date(Math.min(databaseNow.getTime(), machineNowMs()));
    await expire({ store, retentionDays, wait, onEvent }, now);
  }

  async function runRepeatedly(): Promise<void> {
    // The interfaces may only read this table, so they cannot take the lock.
    const lock = { directUrl, applicationName: 'deedwire-retention', table: 'webhook_retention' };
    let hasFailed = false;
    for (let isDue = true; isDue;) {
      const delayMs = await withTableLock(lock, run).then(
        () => {
          if (hasFailed) onEvent({ kind: 'loop-resumed', loop: 'retention' });
          hasFailed = false;
          return runEveryMs;
        },
        (error: unknown) => {
          hasFailed = true;
          onEvent({ kind: 'retention-failed', error });
          return repeatAfterMs;
        },
      );
      isDue = await wait(delayMs);
    }
  }

  return {
    start() {
      running ??= runRepeatedly();
    },
    async stop() {
      pauses.stop();
      await running;
    },
  };
}
