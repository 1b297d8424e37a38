import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentId } from './generated/documents.ts';
import { keeper, keptResult } from './kept-results.ts';
import { type Failure, failureOf, hasPoints, send } from './request.ts';
import { gateNow } from './session.ts';
import { startStopwatch } from './stopwatch.ts';
import { isWatched, useWatched } from './watch.ts';

export interface Query<Result> {
  readonly data: Result | undefined;
  /** When `data` was read. */
  readonly readAtMs: number | undefined;
  /** How long ago that was. */
  readonly ageMs: (() => number) | undefined;
  readonly failure: Failure | null;
  readonly reload: () => void;
}

interface State<Result> {
  readonly key: string | null;
  readonly data?: Result;
  readonly readAtMs?: number;
  readonly ageMs?: () => number;
  readonly failure?: Failure;
}

/** A change has an effect within this time, or the page says that there is none yet. */
export const effectMs = 30_000;
const closeMs = 1000;
const noWait = (): number => 0;
let lastChange = { gate: gateNow(), ageMs: () => Infinity };

/** After a change, each query of its session with a `pollMs` is sent every second for a while. */
export function watchClosely(): void {
  lastChange = { gate: gateNow(), ageMs: startStopwatch() };
}

function isClose(): boolean {
  return lastChange.gate === gateNow() && lastChange.ageMs() < effectMs && hasPoints();
}

type Poll = Pick<Query<unknown>, 'readAtMs' | 'reload'>;

/** What is read again while the page is watched. */
export const polls = new Set<Poll>();

/**
 * Sends a query, and sends it again every `pollMs` while the page is watched. Null as variables sends nothing.
 *
 * Back and Forward show the last result at once, and send the query again unless it is without `pollMs`.
 *
 * @param pollMs null: only after a change, see `watchClosely`. Undefined: never
 */
export function useQuery<Result, Variables>(
  documentId: DocumentId<Result, Variables>,
  variables: Variables | null,
  pollMs?: number | null,
): Query<Result> {
  const key = variables === null ? null : JSON.stringify(variables);
  const [state, setState] = useState<State<Result>>({ key: null });
  const isOther = state.key !== key;
  const shown: State<Result> = isOther ? { key, ...keptResult(documentId, key) } : state;
  const [round, setRound] = useState(0);
  const busy = useRef(false);
  /** When the query was sent, and how long it must not be sent by itself: a limit that the server named has to end first. */
  const last = useRef({ sentMs: () => Infinity, leftMs: noWait });
  const reload = useCallback(() => setRound((count) => count + 1), []);
  useEffect(() => {
    if (key === null) return;
    if (isOther && shown.data !== undefined) {
      setState(shown);
      if (pollMs === undefined) return;
    }
    const abort = new AbortController();
    const keep = keeper(documentId, key);
    const load = async () => {
      busy.current = true;
      last.current = { sentMs: startStopwatch(), leftMs: noWait };
      try {
        const data = await send(documentId, JSON.parse(key), abort.signal);
        const result = { data, readAtMs: Date.now(), ageMs: startStopwatch() };
        setState({ key, ...result });
        keep(result);
      } catch (error) {
        const failure = failureOf(error);
        last.current.leftMs = failure.details.leftMs ?? noWait;
        if (!abort.signal.aborted) setState((before) => ({ ...(before.key === key && before), key, failure }));
      } finally {
        if (!abort.signal.aborted) busy.current = false;
      }
    };
    void load();
    return () => abort.abort();
  }, [documentId, key, round]);
  const isSeen = useWatched();
  useEffect(() => {
    if (pollMs === undefined || key === null || !isSeen) return;
    const look = () => {
      const { sentMs, leftMs } = last.current;
      const isDue = isClose() || (pollMs !== null && sentMs() >= pollMs);
      if (isWatched() && isDue && leftMs() <= 0 && !busy.current) reload();
    };
    // At once when somebody returns.
    look();
    const timer = setInterval(look, closeMs);
    return () => clearInterval(timer);
  }, [key, pollMs, reload, isSeen]);
  const { data, readAtMs, ageMs, failure = null } = shown;
  useEffect(() => {
    if (typeof pollMs !== 'number' || key === null) return;
    const poll = { readAtMs, reload };
    polls.add(poll);
    return () => void polls.delete(poll);
  }, [key, pollMs, readAtMs, reload]);
  return { data, readAtMs, ageMs, failure, reload };
}
