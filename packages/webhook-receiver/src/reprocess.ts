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
  const end = await run.withLease(defaultLeaseMs, async (lease): Promise<PullEnd> => {
    const position = parsePosition(lease.position);
    // A run that was interrupted continues.
    let state =
      position.reprocess?.since === since ? position.reprocess : { since, place: null, sequence: 0, until: null };
    const save = async (isDone: boolean): Promise<void> => {
      const text = JSON.stringify({ ...position, reprocess: isDone ? null : state });
      await (run.isStopped ? lease.save(text).catch(() => {}) : run.retried(() => lease.save(text)));
    };
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
      const done = await run.each(fresh, async (event) => {
        const { sequence, deliveryId: id } = event;
        const result = await run.process(event, true);
        if (result === 'stopped') return false;
        if (result.kind === 'failed' && failed.length < listedMax) failed.push({ sequence, id, code: result.code });
        return true;
      });
      run.counts.seen += done;
      const last = page.events.at(-1)?.sequence ?? page.lastSequence;
      const isDone = done === fresh.length && last >= until;
      state =
        done === fresh.length
          ? { since, until, sequence: last, place: { cursor: page.endCursor, since: null, base: last } }
          : { since, until, sequence: fresh[done - 1]?.sequence ?? state.sequence, place };
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
