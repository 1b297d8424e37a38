import type { Database } from '@deedwire/store';
import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Shard, shardCount } from '../kernel/shard.ts';
import type { OnFanOutEvent } from './events.ts';
import type { KnownEntries, QueueRow, UnreadAccount } from './known-entries.ts';
import type { FanOutLimits } from './limits.ts';
import type { QueuePosition } from './queue-entry.ts';
import type { QueuedAccount } from './queued-account.ts';
import { type ReadSnapshot, ShardWatermark } from './shard-watermark.ts';
import { readQueue, type QueueRows } from './sql/queue.ts';

export interface DiscoveryOptions {
  database: Database;
  clock: Pick<Clock, 'setTimer'>;
  known: KnownEntries;
  limits: FanOutLimits;
  onEvent: OnFanOutEvent;
  /** Entries of these accounts were added, or all of their entries are in memory again. */
  onDiscovered: (accounts: ReadonlySet<QueuedAccount>) => void;
  /** A subscription of the account has changed. Called before `onDiscovered`. */
  onChange: (account: QueuedAccount) => void;
  /** The unread entries of the account were read. */
  onReadAgain: (account: QueuedAccount) => void;
}

/** The progress of the reads of one shard. */
interface ShardReader {
  readonly shard: Shard;
  readonly watermark: ShardWatermark;
  isRemoved: boolean;
  isWoken: boolean;
  /** The next read starts from the watermark, although a long transaction holds it back. */
  isFromWatermark: boolean;
  /** Where the next statement continues the read. Null if the last statement completed it. */
  continuesAfter: QueuePosition | null;
  /** Where the next read of the whole shard starts. Null if there is none. */
  wholeAfter: QueuePosition | null;
  /** The last owner died, so claims of the entries that it left are counted. */
  readonly isRecovering: boolean;
  /** The last position of the entries that it left. Null until all of them were read. */
  recoverThrough: QueuePosition | null;
}

interface ReadJob {
  readonly reader: ShardReader;
  readonly shard: Shard;
  readonly after: QueuePosition;
  /** `new`: from the watermark on. `unread`: the entries that accounts dropped from memory. `whole`: all entries. */
  readonly kind: 'new' | 'unread' | 'whole';
  readonly unread: readonly UnreadAccount[];
}

/**
 * While a long transaction holds the watermark back, every fifth poll reads from the watermark, to find events that other
 * transactions commit at earlier positions.
 */
const pollsPerReadFromWatermark = 5;

const rowsPerReadMin = 64;

/**
 * Reads the queue: a woken shard immediately, all shards at each poll, and one of the 64 shards as a whole at each poll.
 */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #readers = new Map<Shard, ShardReader>();
  readonly #backoff = new Backoff();
  #polls = 0;
  #isStopped = false;
  #cancelPause: (() => void) | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  add(shard: Shard, isRecovering: boolean): void {
    this.#readers.set(shard, {
      shard,
      watermark: new ShardWatermark(),
      isRemoved: false,
      isWoken: true,
      isFromWatermark: true,
      continuesAfter: null,
      wholeAfter: null,
      recoverThrough: null,
      isRecovering,
    });
    this.readNext();
  }

  remove(shard: Shard): void {
    const reader = this.#readers.get(shard);
    if (reader !== undefined) reader.isRemoved = true;
    this.#readers.delete(shard);
  }

  /** Whether the shard still holds entries from before the takeover. */
  isRecovering(shard: Shard): boolean {
    const reader = this.#readers.get(shard);
    if (reader === undefined || !reader.isRecovering) return false;
    return reader.recoverThrough === null || this.#options.known.waits(shard, reader.recoverThrough);
  }

  get shards(): readonly Shard[] {
    return [...this.#readers.keys()];
  }

  wake(shards: readonly Shard[] | null): void {
    for (const shard of shards ?? this.#readers.keys()) {
      const reader = this.#readers.get(shard);
      if (reader !== undefined) reader.isWoken = true;
    }
    this.readNext();
  }

  /** Reads the whole shard. Call it after a write that may have unblocked entries. */
  readWhole(shard: Shard): void {
    const reader = this.#readers.get(shard);
    if (reader !== undefined) reader.wholeAfter = 0;
    this.readNext();
  }

  /** Call it at each poll. */
  poll(): void {
    this.#polls += 1;
    const whole = this.#readers.get(this.#polls % shardCount);
    if (whole !== undefined) whole.wholeAfter ??= 0;
    if (this.#polls % pollsPerReadFromWatermark === 0)
      for (const reader of this.#readers.values()) reader.isFromWatermark = true;
    this.wake(null);
  }

  /** Starts the next read if there is something to read. Call it when an account may be read again. */
  readNext(): void {
    if (this.#isStopped || this.#reading !== null || this.#cancelPause !== null) return;
    const jobs = this.#nextJobs();
    if (jobs.length === 0) return;
    this.#reading = this.#read(jobs).finally(() => {
      this.#reading = null;
      this.readNext();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelPause?.();
    await this.#reading;
  }

  #nextJobs(): ReadJob[] {
    const jobs: ReadJob[] = [];
    for (const [shard, { accounts, after }] of this.#options.known.unreadByShard()) {
      const reader = this.#readers.get(shard);
      if (reader !== undefined) jobs.push({ reader, shard, after, kind: 'unread', unread: accounts });
    }
    for (const reader of this.#readers.values()) {
      const { shard, watermark, isWoken, isFromWatermark, continuesAfter, wholeAfter } = reader;
      if (continuesAfter !== null) jobs.push({ reader, shard, after: continuesAfter, kind: 'new', unread: [] });
      else if (isWoken) {
        jobs.push({ reader, shard, after: watermark.readAfter(isFromWatermark), kind: 'new', unread: [] });
        reader.isWoken = false;
        reader.isFromWatermark = false;
      }
      if (wholeAfter !== null) jobs.push({ reader, shard, after: wholeAfter, kind: 'whole', unread: [] });
      reader.wholeAfter = null;
    }
    return jobs;
  }

  async #read(jobs: readonly ReadJob[]): Promise<void> {
    const { database, known, limits, onEvent } = this.#options;
    known.readStarted();
    try {
      const rowsPerRead = Math.max(rowsPerReadMin, Math.ceil(limits.entriesPerRead / jobs.length));
      const { snapshot, results } = await readQueue(database, jobs, rowsPerRead);
      if (this.#backoff.reset()) onEvent({ kind: 'loop-resumed', loop: 'discover' });
      const discovered = new Set<QueuedAccount>();
      for (const [index, job] of jobs.entries()) {
        const result = results[index];
        if (result !== undefined && !job.reader.isRemoved) this.#absorb(job, result, snapshot, discovered);
      }
      known.readEnded();
      if (discovered.size > 0) this.#options.onDiscovered(discovered);
    } catch (error) {
      known.readEnded();
      onEvent({ kind: 'fan-out-unavailable', call: 'discover', error });
      for (const { reader, kind, after } of jobs) {
        if (kind === 'new') reader.isWoken = true;
        if (kind === 'whole') reader.wholeAfter ??= after;
      }
      this.#pause();
    }
  }

  #absorb(
    { reader, after, kind, unread }: ReadJob,
    { rows, last }: QueueRows,
    snapshot: ReadSnapshot,
    discovered: Set<QueuedAccount>,
  ): void {
    const { known, onChange, onReadAgain } = this.#options;
    for (const read of unread) {
      if (!known.wasRead(read, last)) continue;
      discovered.add(read.account);
      onReadAgain(read.account);
    }
    for (const row of rows) {
      const account = known.add(row, !this.#mustCount(reader, row));
      if (account === null) continue;
      discovered.add(account);
      if (row.eventId === null) onChange(account);
    }
    if (kind === 'whole') reader.wholeAfter ??= last;
    if (kind !== 'new') return;
    reader.watermark.wasRead(after, last, rows.at(-1)?.position ?? 0, snapshot, performance.now());
    reader.continuesAfter = last;
    if (last === null && reader.isRecovering) reader.recoverThrough ??= reader.watermark.tip;
  }

  /** True for entries queued before the takeover. */
  #mustCount({ isRecovering, recoverThrough }: ShardReader, { position }: QueueRow): boolean {
    return isRecovering && (recoverThrough === null || position <= recoverThrough);
  }

  #pause(): void {
    if (this.#isStopped) return;
    this.#cancelPause = this.#options.clock.setTimer(() => {
      this.#cancelPause = null;
      this.readNext();
    }, this.#backoff.next());
  }
}
