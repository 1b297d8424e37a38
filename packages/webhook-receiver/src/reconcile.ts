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
    let gap: ReconcileReport['gap'] = null;
    const givenUp: GivenUpEvent[] = [];

    const save = async (): Promise<void> => {
      const text = JSON.stringify(position);
      if (lease.isLost) return;
      // A run that is stopped stores what it has done too.
      await (run.isStopped ? lease.save(text).catch(() => {}) : run.retried(() => lease.save(text)));
    };

    const hold = (event: GivenUpEvent, place: Place, earlier: number, mayBeGivenUp: boolean): void => {
      const { sequence, id, code } = event;
      const attempts = code === 'BUSY' ? earlier : earlier + 1;
      if (mayBeGivenUp && attempts >= maxAttempts) return giveUp(event, attempts);
      const delayMs = code === 'BUSY' ? busyDelayMs : delayAfter(attempts);
      const held = { sequence, id, code, place, attempts, delayMs, dueMs: Date.now() + delayMs };
      position = { ...position, held: [...position.held, held] };
    };

    const giveUp = ({ sequence, id, code }: GivenUpEvent, attempts: number): void => {
      givenUp.push({ sequence, id, code });
      position = { ...position, givenUp: [...position.givenUp, { sequence, id, code }].slice(-givenUpKept) };
      const why = code === 'EXPIRED' ? 'is no longer kept' : `failed ${attempts} times with ${code}`;
      const message = `The event with sequence ${sequence} ${why}. It is given up: the watermark passes it. reprocess calls its handler again.`;
      target.reports.write('error', { code: 'PULL_GAVE_UP', id }, message);
    };

    const process = async (event: PulledEvent, place: Place, earlier: number): Promise<boolean> => {
      const result = await run.process(event, false);
      if (result === 'stopped') return false;
      if (result.kind === 'failed') {
        const { code } = result;
        const failed = { sequence: event.sequence, id: event.deliveryId, code };
        // An event without a handler waits until it is kept.
        hold(failed, place, earlier, code !== 'UNHANDLED' && code !== 'BUSY');
      }
      return true;
    };

    /** Tries the held events again that are due: all those of a place with one page. */
    const retryHeld = async (): Promise<void> => {
      for (;;) {
        const nowMs = Date.now();
        const due = position.held.filter((held) => isDue(held, nowMs));
        const [one] = due;
        if (one === undefined || run.isStopped) return;
        const key = JSON.stringify(one.place);
        const together = due.filter(({ place }) => JSON.stringify(place) === key);
        const page = await run.page(one.place, pageSize).catch((error: unknown) => {
          if (error instanceof CursorExpired) return undefined;
          throw error;
        });
        if (page === null) return;
        for (const held of together) {
          if (run.isStopped) return;
          const event = page?.events.find(({ sequence }) => sequence === held.sequence);
          const { held: before } = position;
          position = { ...position, held: without(before, held) };
          if (event === undefined) giveUp({ ...held, code: 'EXPIRED' }, held.attempts);
          else if (!(await process(event, held.place, held.attempts))) position = { ...position, held: before };
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

    const end = await (async (): Promise<PullEnd> => {
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
        const done = await run.each(fresh, (event) => process(event, start, 0));
        run.counts.seen += done;
        const isWhole = old.length === page.events.length && done === fresh.length;
        if (isWhole) {
          // A page that was read again from an earlier start does not move the position back.
          if (last >= position.sequence && page.endCursor !== null)
            position = { ...position, place: following, sequence: last };
        } else {
          const upTo = fresh[done - 1]?.sequence ?? (page.events[0]?.sequence ?? 1) - 1;
          // Later events of the page are read again.
          const held = position.held.filter(({ sequence }) => sequence <= Math.max(upTo, position.sequence));
          position = { ...position, held };
          if (upTo >= position.sequence) position = { ...position, place, sequence: upTo };
        }
        await save();
        run.report(position.sequence);
        if (done < fresh.length) return 'stopped';
        if (isLast || !isWhole) return 'complete';
        place = following;
        await retryHeld();
      }
    })();
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
  if (!(since instanceof Date) || Number.isNaN(since.getTime())) throw new TypeError('since must be a Date.');
  return since.toISOString();
}

function without(held: readonly Held[], one: Held): Held[] {
  return held.filter(({ sequence }) => sequence !== one.sequence);
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
