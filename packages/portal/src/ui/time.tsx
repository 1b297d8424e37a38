import { useEffect, useState } from 'react';
import { formatRelative, formatUtc, timeOf } from '../time.ts';

/** The time, which is current to `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Local time with UTC below it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at}>
      {timeOf(at)}
      <small>{formatUtc(Date.parse(at))}</small>
    </time>
  );
}

export function Relative({ at }: { at: string }) {
  return <span>{formatRelative(at, useNow(1000))}</span>;
}
