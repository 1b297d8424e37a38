import type { LogFields, LogLevel } from './log.ts';
import type { PullPositions } from './pull-positions.ts';
import type { OutcomeCode } from './responses.ts';

/** What a receiver is for a pull. */
export interface PullTarget {
  /** The store or the inbox. */
  readonly sink: { readonly positions?: PullPositions };
  /** Aborts when the receiver is closed. */
  readonly closing: AbortSignal;
  /** What `processPulled` does, with its response. */
  process(delivery: {
    readonly id: string;
    readonly payload: string;
    readonly isTest?: boolean;
    readonly again?: boolean;
  }): Promise<{ readonly code: OutcomeCode; readonly response: { readonly status: number } }>;
  readonly reports: { write(level: LogLevel, fields: LogFields, message: string): void };
}

/** A subscription whose events can be read from the API. `graphqlPull` creates it. */
export interface Pull {
  readonly subscriptionId: string;
  /** What `receiver.reconcile` calls. */
  readonly reconcile: (target: PullTarget, options?: ReconcileOptions) => Promise<ReconcileReport>;
  /** What `receiver.reprocess` calls. */
  readonly reprocess: (target: PullTarget, options: ReprocessOptions) => Promise<ReprocessReport>;
}

export interface PullRunOptions {
  /** Ends the run after the handlers that are running. The call then resolves; a call that starts later rejects. */
  signal?: AbortSignal;
  /** How long the run may take, in milliseconds, without the handlers that are then running. Defaults to no limit. */
  timeoutMs?: number;
  /** How many handlers run at once. Defaults to 1: events are processed in the order of their sequence. */
  concurrency?: number;
  /** Called after each page. If it throws, nothing changes. */
  onProgress?: (progress: PullProgress) => unknown;
}

export interface ReconcileOptions extends PullRunOptions {
  /**
   * Where to start. `cursor`, the default: where the last run ended; the first run starts at the earliest event that is kept.
   * `earliest`: at the earliest event that is kept. `since`: at the first event that was numbered at this time or later. No
   * event up to the watermark is processed again.
   */
  from?: 'cursor' | 'earliest' | { since: Date };
  /**
   * Leaves events to push that are younger, in milliseconds. The run ends at the first of them. Defaults to 0.
   */
  minAgeMs?: number;
  /**
   * How many times a handler is called for an event before the event is given up: logged, listed in `givenUp`, and passed.
   * The time between two attempts doubles from 10 seconds to 6 hours. Defaults to 12, over almost six hours. An attempt during
   * which the process ends counts too, except the first.
   */
  maxAttempts?: number;
  /** How long another process waits after this one was killed, in milliseconds, from 1,000 to 86,400,000. Defaults to 15,000. */
  leaseMs?: number;
}

export interface ReprocessOptions extends PullRunOptions {
  /** Events that were numbered at this time or later. */
  since: Date;
}

export interface PullProgress {
  /** The highest sequence that was read. 0 before the first event. */
  readonly sequence: number;
  /** The highest sequence that exists. */
  readonly lastSequence: number;
  /** How many events were read in this run. */
  readonly seen: number;
}

/**
 * How a run ended.
 *
 * - `complete`: everything that had a sequence was read, except events younger than `minAgeMs`. The next run reads what still waited for one.
 * - `failing`: the handlers of 100 events fail. Nothing more was read, so that no more events fail.
 * - `busy`: another process has the lease of the subscription.
 * - `stopped`: by `signal`, `timeoutMs` or `receiver.close()`.
 */
export type PullEnd = 'busy' | 'complete' | 'failing' | 'stopped';

export interface PullCounts {
  readonly end: PullEnd;
  /** How many events were read and not passed by an earlier run. */
  readonly seen: number;
  /** Their handlers were called by this run. */
  readonly processed: number;
  /** They were processed before: by a push, or by a run that was killed. */
  readonly duplicate: number;
  /** They were stored in the inbox. */
  readonly accepted: number;
  /** They have no handler, and `keepUnhandled` keeps them. */
  readonly kept: number;
  /** They have no handler, and had no effect. */
  readonly unhandled: number;
  /** They have no payload, because it could not be rendered or was erased, and are logged. Those that could not be rendered were never pushed. */
  readonly withoutPayload: number;
  /** The highest sequence that existed at the last page. Null if no page was read. */
  readonly lastSequence: number | null;
}

export interface ReconcileReport extends PullCounts {
  /**
   * All events up to this sequence are passed: processed, accepted, kept, without a handler, without a payload, or given up. None of
   * them is processed again, except by `reprocess`. 0 before the first event. Null if another process had the lease.
   */
  readonly watermark: number | null;
  /** Events that hold the watermark: the next run that starts after their time tries them again. At most about 100. */
  readonly held: readonly HeldEvent[];
  /** What this run gave up. Each is logged. */
  readonly givenUp: readonly GivenUpEvent[];
  /** Sequences that were never read, because they are no longer kept, or because they are before `since`. Null if there are none. */
  readonly gap: { readonly from: number; readonly to: number } | null;
}

export interface ReprocessReport extends PullCounts {
  /** Events whose handlers failed: what they did the first time stays. At most 1,000 are listed. */
  readonly failed: readonly GivenUpEvent[];
}

export interface GivenUpEvent {
  readonly sequence: number;
  /** Of the delivery. */
  readonly id: string;
  /** Of the last attempt. `EXPIRED` if the event is no longer kept. */
  readonly code: OutcomeCode | 'EXPIRED';
}

export interface HeldEvent extends GivenUpEvent {
  /** How many times its handler has failed. */
  readonly attempts: number;
  readonly nextAttemptAt: Date;
}
