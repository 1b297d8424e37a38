import { CursorExpired, PullError } from './pull-error.ts';
import { checkLeaseMs } from './pull-lease.ts';
import { delayAfter, type Held, isDue, parsePosition, type Place, watermarkOf } from './pull-position.ts';
import { pageSize, PullRun } from './pull-run.ts';
import type { PulledEvent, PulledPage, PullSource } from './pull-source.ts';
import type { GivenUpEvent, PullEnd, PullTarget, ReconcileOptions, ReconcileReport } from './pulling.ts';

const heldMax = 100;
const givenUpKept = 100;
const busyDelayMs = 1_000;
const dayMs = 86_400_000;
const earliest: Place = { cursor: null, since: null, base: null };
export const defaultLeaseMs = 15_000;

/** Reads what a subscription has after the watermark, and processes it. */
export async function reconcile(
  source: PullSource,
  target: PullTarget,
  options: ReconcileOptions = {},
): Promise<ReconcileReport> {
  const { from = 'cursor', minAgeMs = 0, maxAttempts = 12, leaseMs = defaultLeaseMs } = options;
  if (!(minAgeMs >= 0)) throw new TypeError('minAgeMs must be a number of at least 0.');
  if (!(maxAttempts >= 1)) throw new TypeError('maxAttempts must be a number of at least 1.');
  checkLeaseMs(leaseMs);
  const since = typeof from === 'object' ? sinceOf(from.since) : null;
  if (since === null && from !== 'cursor' && from !== 'earliest')
    throw new TypeError(`from must be 'cursor', 'earliest', or { since } with a Date.`);
  const run = new PullRun(source, target, options);

  const report = await run.withLease(leaseMs, async (lease): Promise<ReconcileReport> => {
    let position = parsePosition(lease.position);
    // Of these events, one may end the process.
    const aloneTo = position.begunTo ?? 0;
    let gap: ReconcileReport['gap'] = null;
    const givenUp: GivenUpEvent[] = [];
    const save = (): Promise<void> => run.save(lease, position);

    /** Before handlers are called: whatever ends the process, the next run finds it. */
    const saveBegun = async (to: number): Promise<void> => {
      if ((position.begunTo ?? 0) >= to) return;
      position = { ...position, begunTo: to };
      await save();
    };

    /**
     * @param earlier the failed attempts before
     * @param isBegun an attempt that begins is stored as failed
     */
    const hold = (event: GivenUpEvent, place: Place, earlier: number, isBegun = false): void => {
      const { sequence, id, code } = event;
      const isBusy = code === 'BUSY';
      const attempts = isBusy ? earlier : earlier + 1;
      // An event without a handler waits until it is kept.
      const isFailure = code !== 'UNHANDLED' && !isBusy && !isBegun;
      if (isFailure && attempts >= maxAttempts) return giveUp(event, attempts);
      // Most processes are not ended by an event.
      const delayMs = isBusy ? busyDelayMs : delayAfter(isBegun ? earlier : attempts);
      const held = { sequence, id, code, place, attempts, delayMs, dueMs: Date.now() + delayMs, isBegun };
      position = { ...position, held: [...without(position.held, sequence), held] };
    };

    const giveUp = ({ sequence, id, code }: GivenUpEvent, attempts: number): void => {
      givenUp.push({ sequence, id, code });
      position = { ...position, givenUp: [...position.givenUp, { sequence, id, code }].slice(-givenUpKept) };
      const why = code === 'EXPIRED' ? 'is no longer kept' : `failed ${attempts} times with ${code}`;
      const message = `The event with sequence ${sequence} ${why}. It is given up: the watermark passes it. reprocess calls its handler again.`;
      target.reports.write('error', { code: 'PULL_GAVE_UP', id }, message);
    };

    /**
     * @param earlier the failed attempts before. With a number, the attempt is stored as failed before it begins
     * @returns false if the handler was not called, or the receiver was closed meanwhile
     */
    const process = async (event: PulledEvent, place: Place, earlier: number | null): Promise<boolean> => {
      const { sequence, deliveryId: id } = event;
      const before = position;
      if (earlier !== null) {
        hold({ sequence, id, code: 'HANDLER_FAILED' }, place, earlier, true);
        if (sequence > position.sequence) advance(place, sequence, [event]);
        await save();
      }
      const result = await run.process(event, false);
      if (result === 'stopped') {
        if (earlier !== null) position = before;
        return false;
      }
      position = { ...position, held: without(position.held, sequence) };
      if (result.kind === 'failed') hold({ sequence, id, code: result.code }, place, earlier ?? 0);
      return true;
    };

    /**
     * The events of a place up to a sequence. The server may end its pages earlier than before, and events before the sequence may no
     * longer be kept. Null if the run was stopped.
     */
    const readUpTo = async (place: Place, sequence: number): Promise<PulledEvent[] | null> => {
      const events: PulledEvent[] = [];
      for (let next = place; ;) {
        const page = await run.page(next, pageSize).catch((error: unknown) => {
          if (error instanceof CursorExpired) return error;
          throw error;
        });
        if (page === null) return null;
        if (page instanceof CursorExpired) {
          if (next.cursor === null || page.firstKeptSequence === null || page.firstKeptSequence > sequence)
            return events;
          next = earliest;
          continue;
        }
        events.push(...page.events);
        const last = page.events.at(-1)?.sequence ?? page.lastSequence;
        if (last >= sequence || last >= page.lastSequence) return events;
        next = { cursor: page.endCursor, since: null, base: last };
      }
    };

    /** Tries the held events again that are due: all those of a place together. */
    const retryHeld = async (): Promise<void> => {
      for (;;) {
        const nowMs = Date.now();
        const due = position.held.filter((held) => isDue(held, nowMs) || isUsedUp(held, maxAttempts));
        const [one] = due;
        if (one === undefined || run.isStopped) return;
        const key = JSON.stringify(one.place);
        const together = due.filter(({ place }) => JSON.stringify(place) === key);
        const events = await readUpTo(one.place, Math.max(...together.map(({ sequence }) => sequence)));
        if (events === null) return;
        for (const held of together) {
          if (run.isStopped) break;
          const event = events.find(({ sequence }) => sequence === held.sequence);
          if (event === undefined || isUsedUp(held, maxAttempts)) {
            position = { ...position, held: without(position.held, held.sequence) };
            giveUp(event === undefined ? { ...held, code: 'EXPIRED' } : held, held.attempts);
            continue;
          }
          if (held.isBegun === true) run.reportEnded(held);
          await process(event, held.place, held.attempts);
        }
        await save();
      }
    };

    /** @throws {PullError} if events are lost that `from` does not leave out */
    const expired = (firstKeptSequence: number | null): PullError => {
      const to = firstKeptSequence === null ? null : firstKeptSequence - 1;
      const lost = { from: position.sequence + 1, to };
      const which = to === null ? `after ${position.sequence}` : `from ${lost.from} to ${to}`;
      const message = `The events with the sequences ${which} are no longer kept, and this receiver has not read them. from: 'earliest' goes on after them.`;
      return new PullError('CURSOR_EXPIRED', message, { gap: lost });
    };

    const advance = (place: Place, sequence: number, events: readonly PulledEvent[]): void => {
      const isSame = sequence === position.sequence;
      const lastId = idOf(events, sequence) ?? (isSame ? position.lastId : null);
      position = { ...position, place, sequence, lastId };
    };

    /** @throws {PullError} if the server has other events than those that were read */
    const compare = ({ events, lastSequence }: PulledPage): void => {
      const { sequence, lastId } = position;
      const id = idOf(events, sequence) ?? lastId;
      if (lastSequence >= sequence && (lastId === null || id === lastId)) return;
      const message = `The API has lost the event ${sequence}. If it was restored from a backup, reset the position.`;
      throw new PullError('SEQUENCE_GAP', message);
    };

    /** Compares the first page of a run with what was read before. */
    const begin = (page: PulledPage, isContinued: boolean): void => {
      const start = (page.events[0]?.sequence ?? page.lastSequence + 1) - 1;
      if (position.place !== null && start > position.sequence) {
        if (isContinued) throw expired(page.events[0]?.sequence ?? null);
        gap = { from: position.sequence + 1, to: start };
        const message = `The events of ${source.subscriptionId} with the sequences ${gap.from} to ${gap.to} were not read.`;
        target.reports.write('error', { code: 'PULL_GAP' }, message);
      }
      if (since !== null || isContinued) return;
      const next = page.events.find(({ sequence }) => sequence > position.sequence);
      if (next !== undefined) checkMemory(target, page, next);
    };

    const readAll = async (): Promise<PullEnd> => {
      await retryHeld();
      const isContinued = from === 'cursor' && position.place !== null;
      let place: Place = (isContinued ? position.place : null) ?? { cursor: null, since, base: null };
      let isFirst = true;
      let read = run.page(place, pageSize, waitSecondsOf(source.waitSeconds, position.held));
      // Its error is thrown when the page is used: the handlers of the page before may still run.
      read.catch(() => {});
      for (;;) {
        if (position.held.length >= heldMax) return 'failing';
        const page = await read.catch((error: unknown) => {
          throw error instanceof CursorExpired ? expired(error.firstKeptSequence) : error;
        });
        if (page === null || run.isStopped) return 'stopped';
        compare(page);
        if (isFirst) begin(page, isContinued);
        isFirst = false;
        const last = page.events.at(-1)?.sequence ?? page.lastSequence;
        const following: Place = { cursor: page.endCursor, since: null, base: last };
        const isLast = last >= page.lastSequence;
        if (!isLast) {
          read = run.page(following, pageSize);
          read.catch(() => {});
        }
        const old = page.events.filter((event) => !isYoung(event, page.nowMs, minAgeMs));
        const fresh = old.filter(({ sequence }) => sequence > position.sequence);
        const start = place;
        if (fresh.length > 0) await saveBegun(last);
        const done = await run.each(fresh, aloneTo, (event) =>
          process(event, start, event.sequence > aloneTo ? null : 0),
        );
        run.counts.seen += done;
        const isWhole = old.length === page.events.length && done === fresh.length;
        if (isWhole) {
          // A page that was read again from an earlier start does not move the position back.
          if (last >= position.sequence && page.endCursor !== null) advance(following, last, page.events);
        } else {
          const upTo = fresh[done - 1]?.sequence ?? (page.events[0]?.sequence ?? 1) - 1;
          // Later events of the page are read again.
          const held = position.held.filter(({ sequence }) => sequence <= Math.max(upTo, position.sequence));
          position = { ...position, held };
          if (upTo >= position.sequence) advance(place, upTo, page.events);
        }
        const isEnd = isLast || !isWhole;
        if (position.begunTo !== null) position = { ...position, begunTo: isEnd ? null : last + pageSize };
        await save();
        run.report(position.sequence);
        if (done < fresh.length) return 'stopped';
        if (isEnd) return 'complete';
        place = following;
        await retryHeld();
      }
    };
    const end = await readAll();
    await run.pause(source.waitSeconds);
    run.throwProblem();
    return {
      ...run.counts,
      end: lease.isLost ? 'busy' : end,
      lastSequence: run.lastSequence,
      watermark: watermarkOf(position),
      held: position.held.map(({ sequence, id, code, attempts, dueMs }) => ({
        sequence,
        id,
        code,
        attempts,
        nextAttemptAt: new Date(dueMs),
      })),
      givenUp,
      gap,
    };
  });
  if (report !== null) return report;
  run.throwProblem();
  return { ...run.counts, end: 'busy', lastSequence: null, watermark: null, held: [], givenUp: [], gap: null };
}

/** @throws {TypeError} if it is no time */
export function sinceOf(since: unknown): string {
  // `instanceof` is false for a Date of another realm, such as the one around a test runner's sandbox.
  const ms = Object.prototype.toString.call(since) === '[object Date]' ? Number(since) : NaN;
  if (Number.isNaN(ms)) throw new TypeError('since must be a Date.');
  return new Date(ms).toISOString();
}

function idOf(events: readonly PulledEvent[], sequence: number): string | null {
  return events.find((event) => event.sequence === sequence)?.deliveryId ?? null;
}

function without(held: readonly Held[], sequence: number): Held[] {
  return held.filter((each) => each.sequence !== sequence);
}

/** Its last attempt ended the process. */
function isUsedUp({ isBegun, attempts }: Held, maxAttempts: number): boolean {
  return isBegun === true && attempts >= maxAttempts;
}

/** A request may not wait longer than a held event. */
function waitSecondsOf(waitSeconds: number, held: readonly Held[]): number {
  const dueInMs = Math.min(...held.map(({ dueMs }) => dueMs)) - Date.now();
  return Math.max(0, Math.min(waitSeconds, Math.ceil(dueInMs / 1_000)));
}

function isYoung({ payload }: PulledEvent, nowMs: number, minAgeMs: number): boolean {
  return minAgeMs > 0 && nowMs - timeOf(payload) < minAgeMs;
}

/** When the event happened. -Infinity if it has no readable payload. */
function timeOf(payload: string | null): number {
  try {
    const ms = Date.parse(JSON.parse(payload ?? '').timestamp);
    return Number.isNaN(ms) ? -Infinity : ms;
  } catch {
    return -Infinity;
  }
}

/**
 * Without a position, only the ids in the store tell which events were processed.
 *
 * @throws {PullError} if the server keeps more events than the store remembers
 */
function checkMemory({ sink }: PullTarget, page: PulledPage, next: PulledEvent): void {
  const { rememberedMs = 0, rememberedCount = Infinity } = sink.positions ?? {};
  const count = page.lastSequence - next.sequence + 1;
  const ageMs = page.nowMs - timeOf(next.payload);
  const fix = 'Pass from: { since } with a time after which no event was processed and forgotten.';
  if (count > rememberedCount)
    throw new PullError(
      'STORE_FORGETS',
      `The server keeps ${count} events, and the store remembers ${rememberedCount}. ${fix}`,
    );
  // A day for clocks that differ.
  if (ageMs > rememberedMs - dayMs && ageMs < Infinity)
    throw new PullError(
      'STORE_FORGETS',
      `The server keeps an event of ${new Date(page.nowMs - ageMs).toISOString()}, and the store remembers ${rememberedMs / dayMs} days. ${fix}`,
    );
}
