import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Failure } from '../request.ts';
import { formatDuration } from '../time.ts';
import type { Query } from '../use-query.ts';
import { useStore } from '../use-store.ts';
import { isWatched } from '../watch.ts';
import { Visible } from './text.tsx';
import { useClock } from './time.tsx';

interface Trouble {
  readonly text: string;
  readonly retry: () => void;
}

/** What can be tried again on the page, in order of its appearance. */
let troubles: readonly Trouble[] = [];
const listeners = new Set<() => void>();

function setTroubles(next: readonly Trouble[]): void {
  troubles = next;
  for (const listener of listeners) listener();
}

/** Queries that fail alike have one problem, that of the first: it is read once, and tries all of them again. */
function useAlike(text: string, retry: (() => void) | undefined) {
  const latest = useRef(retry);
  useLayoutEffect(() => void (latest.current = retry));
  const own = useMemo(() => ({ text, retry: () => latest.current?.() }), [text]);
  const canRetry = retry !== undefined;
  useLayoutEffect(() => {
    if (!canRetry) return;
    setTroubles([...troubles, own]);
    return () => setTroubles(troubles.filter((each) => each !== own));
  }, [own, canRetry]);
  const all = useStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => troubles,
  );
  const alike = all.filter((each) => each.text === text);
  return {
    isFirst: !canRetry || alike[0] === own,
    retryAll: () => {
      for (const each of alike) each.retry();
    },
  };
}

interface ProblemProps {
  readonly failure: Failure;
  /** Sends the request again. Undefined if only a person may. */
  readonly retry?: () => void;
  readonly reload?: () => void;
}

/** Why there is no result. A query is tried again at the time that the server named, if somebody watches. */
export function Problem({ failure, retry, reload = () => location.reload() }: ProblemProps) {
  const { message, details } = failure;
  const { code, requestId, isPage } = details;
  const { isFirst, retryAll } = useAlike(`${code} ${message}`, retry);
  useClock(1000);
  const leftMs = details.leftMs?.();
  const isDue = isFirst && leftMs !== undefined && leftMs <= 0 && isWatched();
  useEffect(() => {
    if (isDue) retryAll();
  }, [isDue]);
  if (!isFirst) return null;
  return (
    <div className="why bad" role="alert">
      <p>
        <Visible text={message} /> {/* A screen reader reads the time once. */}
        {leftMs !== undefined && leftMs > 0 && (
          <span role="timer">{`${retry ? 'This page tries' : 'Try'} again in ${formatDuration(leftMs)}.`}</span>
        )}
        <small>{requestId === undefined ? code : `${code}, request id ${requestId}`}</small>
      </p>
      {isPage && <button onClick={reload}>Reload</button>}
      {retry && <button onClick={retryAll}>Try again</button>}
    </div>
  );
}

export const loading = (
  <p className="loading" role="status">
    Loading…
  </p>
);

interface LoadedProps<Result> {
  readonly query: Query<Result>;
  readonly children: (data: Result) => ComponentChildren;
  /** Shown if there is nothing. */
  readonly empty?: ComponentChildren;
}

/** The result of a query, or that it is loading or failed. */
export function Loaded<Result>({ query: { data, failure, reload }, children, empty }: LoadedProps<Result>) {
  return (
    <>
      {failure && <Problem failure={failure} retry={reload} />}
      {data !== undefined ? (children(data) ?? empty) : failure ? null : loading}
    </>
  );
}
