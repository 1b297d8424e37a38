import { CursorExpired, PullError } from './pull-error.ts';
import { parsePosition, type Place } from './pull-position.ts';
import { pageSize, PullRun } from './pull-run.ts';
import type { PullSource } from './pull-source.ts';
import type { GivenUpEvent, PullEnd, PullTarget, ReprocessOptions, ReprocessReport } from './pulling.ts';
import { defaultLeaseMs, sinceOf } from './reconcile.ts';

const listedMax = 1_000;

/** Calls the handlers again for what was numbered since a time. The watermark stays. */
export async function reprocess(
  source: PullSource,
  target: PullTarget,
  options: ReprocessOptions,
): Promise<ReprocessReport> {
  const since = sinceOf(options?.since);
  const run = new PullRun(source, target, options);
  const failed: GivenUpEvent[] = [];
  const fail = (failure: GivenUpEvent): void => {
    if (failed.length < listedMax) failed.push(failure);
  };
  const end = await run.withLease(defaultLeaseMs, async (lease): Promise<PullEnd> => {
    const position = parsePosition(lease.position);
    // A run that was interrupted continues.
    const interrupted = position.reprocess?.since === since ? position.reprocess : null;
    let state = interrupted ?? { since, place: null, sequence: 0, until: null, begunTo: null, begun: null };
    // Of these events, one may end the process.
    const aloneTo = interrupted?.begunTo ?? 0;
    const save = (isDone: boolean): Promise<void> => run.save(lease, { ...position, reprocess: isDone ? null : state });
    let place: Place = state.place ?? { cursor: null, since, base: null };
    for (;;) {
      const page = await run.page(place, pageSize).catch((error: unknown) => {
        if (!(error instanceof CursorExpired)) throw error;
        throw new PullError('CURSOR_EXPIRED', 'The next event is no longer kept. Call reprocess with a later time.');
      });
      if (page === null || run.isStopped) return 'stopped';
      // Events that arrive during the run are those of the new handler.
      const until = state.until ?? page.lastSequence;
      const fresh = page.events.filter(({ sequence }) => sequence > state.sequence && sequence <= until);
      const lastFresh = fresh.at(-1)?.sequence ?? 0;
      if (lastFresh > (state.begunTo ?? 0)) {
        state = { ...state, begunTo: lastFresh };
        await save(false);
      }
      const done = await run.each(fresh, aloneTo, async (event) => {
        const { sequence, deliveryId: id } = event;
        if (sequence === interrupted?.begun) {
          const failure = { sequence, id, code: 'HANDLER_FAILED' } as const;
          run.reportEnded(failure);
          fail(failure);
          return true;
        }
        if (sequence <= aloneTo) {
          state = { ...state, place, sequence: sequence - 1, begun: sequence };
          await save(false);
        }
        const result = await run.process(event, true);
        if (result === 'stopped') return false;
        if (result.kind === 'failed') fail({ sequence, id, code: result.code });
        return true;
      });
      run.counts.seen += done;
      const last = page.events.at(-1)?.sequence ?? page.lastSequence;
      const isDone = done === fresh.length && last >= until;
      const begunTo = done === fresh.length ? last + pageSize : null;
      const ended = { since, until, begunTo, begun: null };
      state =
        done === fresh.length
          ? { ...ended, sequence: last, place: { cursor: page.endCursor, since: null, base: last } }
          : { ...ended, sequence: fresh[done - 1]?.sequence ?? state.sequence, place };
      await save(isDone);
      run.report(state.sequence);
      if (isDone) return 'complete';
      if (done < fresh.length) return 'stopped';
      place = state.place ?? place;
    }
  });
  run.throwProblem();
  return { ...run.counts, end: end ?? 'busy', lastSequence: run.lastSequence, failed };
}
