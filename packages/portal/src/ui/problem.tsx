import { type ReactNode, useEffect } from 'react';
import type { Failure } from '../request.ts';
import { formatDuration } from '../time.ts';
import type { Query } from '../use-query.ts';
import { Visible } from './text.tsx';
import { useNow } from './time.tsx';

/** Why there is no result. A query is tried again at the time that the server named. */
export function Problem({ failure, retry }: { failure: Failure; retry?: () => void }) {
  const { message, details } = failure;
  const { code, requestId, retryAtMs = null } = details;
  const leftMs = (retryAtMs ?? 0) - useNow(1000);
  const isDue = retryAtMs !== null && leftMs <= 0;
  useEffect(() => {
    if (isDue) retry?.();
  }, [isDue]);
  return (
    <div className="why bad" role="alert">
      <p>
        <Visible text={message} />
        {retryAtMs !== null && ` ${retry ? 'This page tries' : 'Try'} again in ${formatDuration(leftMs)}.`}
        <small>{requestId === undefined ? code : `${code}, request id ${requestId}`}</small>
      </p>
      {retry && <button onClick={retry}>Try again</button>}
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
  readonly children: (data: Result) => ReactNode;
  /** Shown if there is nothing. */
  readonly empty?: ReactNode;
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
