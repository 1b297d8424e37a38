import { type Store, StoreUnavailableError, withSession, type Session } from '@deedwire/store';
import { selectTime } from '@deedwire/store/time';
import type { Clock } from '../dispatch/clock.ts';
import type { OnRetentionEvent } from './events.ts';
import { expire } from './expire.ts';
import { keepPartitions, readDaysAhead } from './keep-partitions.ts';

export interface RetentionOptions {
  store: Store;
  /** A direct connection: partitions cannot be detached through a transaction pooler. */
  directUrl: string;
  /** How long payloads are kept. Deliveries and attempts are kept 7 days longer. */
  retentionDays: number;
  clock: Pick<Clock, 'setTimer'>;
  onEvent: OnRetentionEvent;
  /** Milliseconds since 1970 by the clock of this machine. */
  machineNowMs?: () => number;
}

export interface Retention {
  /** Runs in the background: now, and then every hour. One worker at a time runs it. */
  start(): void;
  /** Lists what prevents events from being stored, one sentence each. */
  problems(): Promise<readonly string[]>;
  /** Resolves when no statement is running. */
  stop(): Promise<void>;
}

const runEveryMs = 3_600_000;
const repeatAfterMs = 60_000;

// An arbitrary number that no other code locks.
const advisoryLock = 0x7e7e_4710;

const leastDaysAhead = 2;

export function createRetention(options: RetentionOptions): Retention {
  const { store, directUrl, retentionDays, clock, onEvent, machineNowMs = Date.now } = options;
  let isStopped = false;
  let running: Promise<void> | null = null;
  let endWait: (() => void) | null = null;

  const wait = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      if (isStopped) return resolve(false);
      const cancel = clock.setTimer(() => resolve(true), ms);
      endWait = () => {
        cancel();
        resolve(false);
      };
    });

  async function run(session: Session): Promise<void> {
    const [lock] = await session.execute('select pg_try_advisory_lock($1) as is_acquired', [advisoryLock]);
    if (lock?.['is_acquired'] !== true) return;
    await keepPartitions(store, onEvent);
    // The earlier of two clocks, because one that is ahead would delete data too early.
    const databaseNow = await selectTime(store);
    const now = new Date(Math.min(databaseNow.getTime(), machineNowMs()));
    await expire({ store, session, retentionDays, wait, onEvent }, now);
  }

  async function runRepeatedly(): Promise<void> {
    const session = {
      directUrl,
      applicationName: 'deedwire-retention',
      settings: { lock_timeout: 100 },
      queryTimeoutMs: 30_000,
    };
    for (let isDue = true; isDue;) {
      const delayMs = await withSession(session, run).then(
        () => runEveryMs,
        (error: unknown) => {
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
    async problems() {
      try {
        const days = await readDaysAhead(store);
        if (days >= leastDaysAhead) return [];
        const existing = days < 0 ? 'no partitions for today' : `partitions for today and ${days} more days`;
        return [`The webhook history has ${existing}. The logs of the workers say why they could not create more.`];
      } catch (error) {
        // Readiness also reports whether the database is available.
        if (error instanceof StoreUnavailableError) return [];
        throw error;
      }
    },
    async stop() {
      isStopped = true;
      endWait?.();
      await running;
    },
  };
}
