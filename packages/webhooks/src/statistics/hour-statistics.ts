import { randomInt } from 'node:crypto';
import type { Database } from '@deedwire/store';
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

type Counts = { -readonly [Name in keyof HourTotals]: HourTotals[Name] } & { isChanged: boolean };

/** What this process has counted in an hour. */
interface Hour {
  readonly startMs: number;
  /**
   * Distinguishes its rows from those of other processes, and of the same hour after the clock was set back: the time of the first
   * count, and a random part.
   */
  readonly counterId: number;
  readonly counts: Map<SubscriptionId, Counts>;
}

/**
 * Counts in memory what happens to the deliveries of each subscription, and writes the totals of those that have changed once a
 * minute. A write replaces the totals of an earlier one, so that one whose outcome is unknown is repeated without harm. What was not
 * written when the process is killed is lost.
 */
export class HourStatistics {
  readonly #options: HourStatisticsOptions;
  /** The last one is the current one. The others are kept until they are written. */
  #hours: Hour[] = [];
  #cancelTimer: (() => void) | null = null;
  #writing = Promise.resolve();
  #isStopped = false;

  constructor(options: HourStatisticsOptions) {
    this.#options = options;
  }

  /** @param nowMs database time */
  count({ delivery, attempt, next }: RecordedResult, nowMs: number): void {
    const counts = this.#countsOf(delivery.subscriptionId, nowMs);
    counts.isChanged = true;
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

  /** Writes what was counted, unless the database refuses it. Call it when nothing more is counted. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#writing;
    await this.#write();
  }

  #countsOf(subscriptionId: SubscriptionId, nowMs: number): Counts {
    let hour = this.#hours.at(-1);
    if (hour === undefined || nowMs < hour.startMs || nowMs >= hour.startMs + hourMs) {
      hour = {
        startMs: nowMs - (nowMs % hourMs),
        counterId: Math.floor(nowMs) * 1_024 + randomInt(1_024),
        counts: new Map(),
      };
      this.#hours.push(hour);
    }
    let counts = hour.counts.get(subscriptionId);
    if (counts === undefined) {
      counts = {
        subscriptionId,
        delivered: 0,
        failedAttempts: 0,
        failed: 0,
        longestWaitMs: null,
        lastDeliveredMs: null,
        isChanged: false,
      };
      hour.counts.set(subscriptionId, counts);
    }
    return counts;
  }

  #planWrite(): void {
    if (this.#isStopped || this.#cancelTimer !== null) return;
    this.#cancelTimer = this.#options.clock.setTimer(() => {
      this.#cancelTimer = null;
      this.#writing = this.#writing.then(() => this.#write());
    }, writeMs);
  }

  async #write(): Promise<void> {
    const { onEvent, onFenced } = this.#options;
    this.#hours = this.#hours.slice(-hoursMax);
    try {
      for (const hour of this.#hours) {
        const isOver = hour !== this.#hours.at(-1);
        await this.#writeHour(hour);
        if (isOver) this.#hours = this.#hours.filter((each) => each !== hour);
      }
    } catch (error) {
      this.#planWrite();
      if (error instanceof FencedOutError) onFenced();
      else onEvent({ kind: 'statistics-not-stored', error });
    }
  }

  async #writeHour(hour: Hour): Promise<void> {
    const { store, workerId } = this.#options;
    const changed = [...hour.counts.values()].filter(({ isChanged }) => isChanged);
    for (let from = 0; from < changed.length; from += batchMax) {
      const batch = changed.slice(from, from + batchMax);
      // What is counted meanwhile changes them again.
      for (const counts of batch) counts.isChanged = false;
      try {
        await writeHourTotals(store, workerId(), hour, batch);
      } catch (error) {
        for (const counts of batch) counts.isChanged = true;
        throw error;
      }
    }
  }
}
