import { randomInt } from 'node:crypto';
import { type Database, StoreUnavailableError } from '@deedwire/store';
import type { Reports, StatisticsEvent, WritesForWorker } from '../events.ts';
import { FencedOutError } from '../fence/fence.ts';
import type { Clock } from '../kernel/clock.ts';
import type { SubscriptionId } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { type HourTotals, writeHourTotals } from './sql/write-hour-totals.ts';

export interface HourStatisticsOptions extends Reports<StatisticsEvent>, WritesForWorker {
  store: Database;
  clock: Pick<Clock, 'setTimer'>;
}

/** What storage has recorded about a delivery. */
export interface RecordedResult {
  readonly delivery: Pick<PendingDelivery, 'subscriptionId' | 'occurredAt' | 'replayId'>;
  /** Null if nothing was sent. */
  readonly attempt: object | null;
  readonly next: { readonly kind: 'delivered' | 'failed' | 'retry' };
}

const hourMs = 3_600_000;
const writeMs = 60_000;
/** Of one statement. Encoding so many takes about 5 ms. */
const batchMax = 10_000;
/** While the database refuses the counts, those of earlier hours are dropped. */
const hoursMax = 24;
/** The memory of more, about 9 MB, is freed once they are written, although their hour is not over. */
const subscriptionsMax = 50_000;

type Counts = { -readonly [Name in keyof HourTotals]: HourTotals[Name] };

/** What this process has counted in an hour, or in a part of it. */
interface Hour {
  readonly startMs: number;
  /**
   * Distinguishes its rows from those of other processes, of other parts of the hour, and of the same hour after the clock was set
   * back: the time of the first count, and a random part.
   */
  readonly counterId: number;
  readonly counts: Map<SubscriptionId, Counts>;
  /** What is not written yet. */
  changed: Set<Counts>;
  /** Nothing more is counted in it. */
  isClosed: boolean;
}

/**
 * Counts in memory what happens to the deliveries of each subscription, and writes the totals of those that have changed once a
 * minute. A write replaces the totals of an earlier one, so that one whose outcome is unknown is repeated without harm. What was not
 * written when the process is killed is lost.
 */
export class HourStatistics {
  readonly #options: HourStatisticsOptions;
  /** The last one is the current one, unless it is closed. The others are kept until they are written. */
  #hours: Hour[] = [];
  #cancelTimer: (() => void) | null = null;
  #writing: Promise<boolean> | null = null;
  #isStopped = false;

  constructor(options: HourStatisticsOptions) {
    this.#options = options;
  }

  /** @param nowMs database time */
  count({ delivery, attempt, next }: RecordedResult, nowMs: number): void {
    const hour = this.#hourOf(nowMs);
    const counts = countsOf(hour, delivery.subscriptionId);
    hour.changed.add(counts);
    if (next.kind === 'delivered') {
      counts.delivered += 1;
      counts.lastDeliveredMs = nowMs;
      if (delivery.replayId === null)
        counts.longestWaitMs = Math.max(counts.longestWaitMs ?? 0, nowMs - delivery.occurredAt.getTime());
    } else {
      if (attempt !== null) counts.failedAttempts += 1;
      if (next.kind === 'failed') counts.failed += 1;
    }
    this.#planWrite();
  }

  /** Writes what was counted, or waits for the write that is running. Returns whether the database accepted all. */
  write(): Promise<boolean> {
    this.#writing ??= this.#writeHours().finally(() => {
      this.#writing = null;
      if (this.#hours.some(({ changed }) => changed.size > 0)) this.#planWrite();
    });
    return this.#writing;
  }

  /** Writes what was counted before the call, unless the database refuses it. */
  async flush(): Promise<void> {
    // A write that fails can take as long as a statement may, and a second one would too.
    const isRefused = this.#writing !== null && !(await this.#writing);
    if (!isRefused) await this.write();
  }

  /** Writes what was counted, unless the database refuses it. Call it when nothing more is counted. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.flush();
    this.#drop(this.#hours);
    this.#hours = [];
  }

  #hourOf(nowMs: number): Hour {
    const current = this.#hours.at(-1);
    const isOf = ({ startMs }: Hour): boolean => nowMs >= startMs && nowMs < startMs + hourMs;
    if (current?.isClosed === false && isOf(current)) return current;
    if (current !== undefined) current.isClosed = true;
    const hour: Hour = {
      startMs: nowMs - (nowMs % hourMs),
      counterId: Math.floor(nowMs) * 1_024 + randomInt(1_024),
      counts: new Map(),
      changed: new Set(),
      isClosed: false,
    };
    this.#hours.push(hour);
    return hour;
  }

  #planWrite(): void {
    if (this.#isStopped || this.#cancelTimer !== null) return;
    this.#cancelTimer = this.#options.clock.setTimer(() => {
      this.#cancelTimer = null;
      void this.write();
    }, writeMs);
  }

  async #writeHours(): Promise<boolean> {
    const { onEvent, onFenced } = this.#options;
    this.#drop(this.#hours.splice(0, Math.max(0, this.#hours.length - hoursMax)));
    const errors: unknown[] = [];
    const hours = [...this.#hours];
    for (const hour of hours) {
      try {
        await this.#writeHour(hour);
      } catch (error) {
        if (error instanceof FencedOutError) {
          onFenced();
          return false;
        }
        errors.push(error);
        // The database would not accept the next ones either. It can refuse a single hour.
        if (error instanceof StoreUnavailableError) break;
      }
    }
    if (errors.length > 0) onEvent({ kind: 'statistics-not-stored', hours: errors.length, error: errors[0] });
    return errors.length === 0;
  }

  async #writeHour(hour: Hour): Promise<void> {
    const { store, workerId } = this.#options;
    // What is counted meanwhile is written a minute later.
    const writing = [...hour.changed];
    hour.changed = new Set();
    let written = 0;
    try {
      for (; written < writing.length; written += batchMax)
        await writeHourTotals(store, workerId(), hour, writing.slice(written, written + batchMax));
    } finally {
      for (const counts of writing.slice(written)) hour.changed.add(counts);
    }
    if (hour.counts.size > subscriptionsMax) hour.isClosed = true;
    if (hour.isClosed && hour.changed.size === 0) this.#hours = this.#hours.filter((each) => each !== hour);
  }

  #drop(hours: readonly Hour[]): void {
    const count = hours.reduce((sum, { changed }) => sum + changed.size, 0);
    if (count > 0) this.#options.onEvent({ kind: 'statistics-dropped', count });
  }
}

function countsOf(hour: Hour, subscriptionId: SubscriptionId): Counts {
  const known = hour.counts.get(subscriptionId);
  if (known !== undefined) return known;
  const counts: Counts = {
    subscriptionId,
    delivered: 0,
    failedAttempts: 0,
    failed: 0,
    longestWaitMs: null,
    lastDeliveredMs: null,
  };
  hour.counts.set(subscriptionId, counts);
  return counts;
}
