import { checkTimeouts } from './deadline.ts';
import { ignoreFailure } from './log.ts';
import { PullError, TransientError } from './pull-error.ts';
import { PullLease } from './pull-lease.ts';
import type { Place, Position } from './pull-position.ts';
import type { PulledEvent, PulledPage, PullSource } from './pull-source.ts';
import { PullStop } from './pull-stop.ts';
import type { GivenUpEvent, PullCounts, PullRunOptions, PullTarget } from './pulling.ts';
import type { OutcomeCode } from './responses.ts';

const firstBackoffMs = 500;
const backoffMaxMs = 30_000;
const invalidMax = 5;
const turnEveryMs = 1_000;
export const pageSize = 100;

type Counted = { -readonly [Name in keyof Omit<PullCounts, 'end' | 'lastSequence'>]: number };

/** What became of an event. `stopped`: its handler was not called, or the receiver was closed meanwhile. */
export type EventResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly code: OutcomeCode }
  | 'stopped';

/** One run of `reconcile` or of `reprocess`: its requests, its retries, its end. */
export class PullRun {
  readonly #source: PullSource;
  readonly #target: PullTarget;
  readonly #options: PullRunOptions;
  readonly #stop: PullStop;
  readonly #startMs = performance.now();
  /** The last request or the last use of the store failed. */
  #problem: TransientError | null = null;
  readonly counts: Counted = {
    seen: 0,
    processed: 0,
    duplicate: 0,
    accepted: 0,
    kept: 0,
    unhandled: 0,
    withoutPayload: 0,
  };
  lastSequence: number | null = null;

  /** @throws the reason of the signal, if it is aborted, `PullError` if the receiver is closed, and `TypeError` for options */
  constructor(source: PullSource, target: PullTarget, options: PullRunOptions) {
    const { signal, timeoutMs, concurrency = 1 } = options;
    signal?.throwIfAborted();
    if (target.closing.aborted) throw new PullError('CLOSED', 'The receiver is closed.');
    if (timeoutMs !== undefined) checkTimeouts({ timeoutMs });
    if (!Number.isSafeInteger(concurrency) || concurrency < 1)
      throw new TypeError('concurrency must be an integer of at least 1.');
    this.#source = source;
    this.#target = target;
    this.#options = options;
    this.#stop = new PullStop([signal, target.closing], timeoutMs);
  }

  get isStopped(): boolean {
    return this.#stop.isStopped;
  }

  /** Runs the work with the lease of the subscription. Null if there was no lease before the run was stopped. */
  async withLease<Result>(leaseMs: number, work: (lease: PullLease) => Promise<Result>): Promise<Result | null> {
    const { positions } = this.#target.sink;
    if (positions === undefined)
      throw new PullError(
        'STORE_UNSUPPORTED',
        'This store or inbox cannot hold how far a subscription was pulled. Use postgresStore, redisStore, memoryStore or an inbox of this package, or add `positions` to your own.',
      );
    try {
      for (;;) {
        const lease = await this.retried(() =>
          PullLease.take(positions, this.#source.subscriptionId, leaseMs, () => this.#stop.stop()),
        );
        if (lease === null) {
          if (this.isStopped) return null;
          await this.#stop.sleep(turnEveryMs);
          continue;
        }
        try {
          return await work(lease);
        } finally {
          await lease.release();
        }
      }
    } finally {
      // A page that is no longer needed may still be read.
      this.#stop.stop();
      this.#stop.end();
    }
  }

  /**
   * Repeats a request, or a use of the store, until it succeeds. Null if the run was stopped before.
   *
   * @throws {PullError} if it cannot succeed, or was never possible until `timeoutMs`
   */
  async retried<Result>(attempt: () => Promise<Result>): Promise<Result | null> {
    let invalid = 0;
    for (let failures = 0; ; failures += 1) {
      try {
        const result = await attempt();
        this.#problem = null;
        return result;
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        if (this.isStopped) return null;
        invalid = error.kind === 'invalid' ? invalid + 1 : 0;
        if (invalid === invalidMax) throw new PullError('RESPONSE_INVALID', error.message);
        await this.#backOff(error, failures);
      }
    }
  }

  async #backOff(error: TransientError, failures: number): Promise<void> {
    const isLimit = error.kind === 'limit';
    // A run that reads much is limited now and then. Twice in a row, something else takes the points.
    if (isLimit && failures === 0) return this.#stop.sleep(error.afterMs);
    this.#problem = error;
    const backoffMs = Math.min(firstBackoffMs * 2 ** failures, backoffMaxMs) * (0.75 + Math.random() / 2);
    const waitMs = isLimit ? error.afterMs : Math.max(backoffMs, error.afterMs);
    const message = `${error.message} The pull of ${this.#source.subscriptionId} tries again in ${Math.ceil(waitMs / 1_000)} s.`;
    this.#target.reports.write('warn', { code: 'PULL_RETRY', err: error.cause }, message);
    await this.#stop.sleep(waitMs);
  }

  /** A run that is stopped stores what it has done too. */
  async save(lease: PullLease, position: Position): Promise<void> {
    const text = JSON.stringify(position);
    await (this.isStopped ? lease.save(text).catch(() => {}) : this.retried(() => lease.save(text)));
  }

  /**
   * Reads a page whose sequences continue those before it. Null if the run was stopped.
   *
   * @throws {PullError | CursorExpired}
   */
  async page(place: Place, first: number, waitSeconds = 0): Promise<PulledPage | null> {
    const page = await this.retried(() => this.#source.page(place, first, waitSeconds, this.#stop.signal));
    if (page === null) return null;
    checkSequences(page, place);
    this.lastSequence = page.lastSequence;
    return page;
  }

  /** Processes an event. Waits while the store is unavailable. */
  async process({ sequence, deliveryId: id, payload, isTest }: PulledEvent, again: boolean): Promise<EventResult> {
    if (payload === null) {
      this.counts.withoutPayload += 1;
      const message = `The event with sequence ${sequence} has no payload: it could not be rendered, or was erased.`;
      this.#target.reports.write('error', { code: 'NO_PAYLOAD', id }, message);
      return passed;
    }
    for (let failures = 0; ; failures += 1) {
      if (this.isStopped) return 'stopped';
      const { code, response } = await this.#target.process({ id, payload, isTest, again });
      if (response.status < 300) {
        this.counts[countOf(code)] += 1;
        this.#problem = null;
        return passed;
      }
      // A handler that ends early because the receiver is closed has not failed.
      if (code === 'CLOSING' || this.#target.closing.aborted) return 'stopped';
      if (code !== 'STORE_UNAVAILABLE') return { kind: 'failed', code };
      await this.#backOff(new TransientError('unavailable', 'The store is unavailable.'), failures);
    }
  }

  /**
   * Processes events, `concurrency` at once, and resolves with the number of those at the beginning that are done.
   *
   * @param aloneTo up to this sequence, events are processed one after the other
   * @param work resolves with false if the event is not done
   */
  async each(
    events: readonly PulledEvent[],
    aloneTo: number,
    work: (event: PulledEvent) => Promise<boolean>,
  ): Promise<number> {
    const concurrency = (events[0]?.sequence ?? 0) > aloneTo ? (this.#options.concurrency ?? 1) : 1;
    const isDone: boolean[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next; index < events.length && !this.isStopped; index = next) {
        next += 1;
        const event = events[index];
        if (event === undefined || !(await work(event))) return;
        isDone[index] = true;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    const end = events.findIndex((_, index) => isDone[index] !== true);
    return end === -1 ? events.length : end;
  }

  report(sequence: number): void {
    const { lastSequence, counts } = this;
    if (lastSequence !== null)
      ignoreFailure(() => this.#options.onProgress?.({ sequence, lastSequence, seen: counts.seen }));
  }

  /** Reports an event whose handler has not ended the last time. Most processes are not ended by an event. */
  reportEnded({ sequence, id }: GivenUpEvent): void {
    const message = `The process ended while it handled the event ${sequence}.`;
    this.#target.reports.write('warn', { code: 'PROCESS_ENDED', id }, message);
  }

  /** A loop around runs that find nothing may not become a busy one. */
  async pause(waitSeconds: number): Promise<void> {
    const leftMs = turnEveryMs - (performance.now() - this.#startMs);
    if (waitSeconds > 0 && this.counts.seen === 0 && leftMs > 0) await this.#stop.sleep(leftMs);
  }

  /** @throws {PullError} if the run was stopped while it could not go on */
  throwProblem(): void {
    if (this.#stop.isTimedOut && this.#problem !== null)
      throw new PullError('UNAVAILABLE', this.#problem.message, { cause: this.#problem.cause });
  }
}

const passed: EventResult = { kind: 'passed' };

function countOf(code: OutcomeCode): keyof Counted {
  if (code === 'DUPLICATE') return 'duplicate';
  if (code === 'ACCEPTED') return 'accepted';
  if (code === 'KEPT') return 'kept';
  return code === 'UNHANDLED' ? 'unhandled' : 'processed';
}

/** @throws {PullError} if a sequence is left out or repeated */
function checkSequences({ events, lastSequence, firstKeptSequence }: PulledPage, { base, since }: Place): void {
  const firstSequence = events[0]?.sequence;
  // The first page of a run begins with what is kept, or where the time says.
  let expected = base === null ? ((since === null ? firstKeptSequence : null) ?? firstSequence) : base + 1;
  for (const { sequence } of events) {
    if (sequence !== expected) throw gap(`after ${Number(expected) - 1} comes ${sequence}`);
    expected = sequence + 1;
  }
  // Without a time, a first page is empty only if no event is kept.
  const isEmptyByMistake = base === null && since === null && (firstKeptSequence ?? Infinity) <= lastSequence;
  const start = base ?? (isEmptyByMistake ? Number(expected) - 1 : lastSequence);
  const last = events.at(-1)?.sequence ?? start;
  if (last > lastSequence) throw gap(`the last one is ${lastSequence}, and ${last} was read before`);
  if (events.length === 0 && last < lastSequence)
    throw gap(`after ${last} comes nothing, and the last one is ${lastSequence}`);
}

function gap(what: string): PullError {
  const message = `The sequences of the page have a gap: ${what}. Nothing of it was processed. Report it to Deedwire.`;
  return new PullError('SEQUENCE_GAP', message);
}
