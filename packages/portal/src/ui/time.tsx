import { useEffect, useState } from 'preact/hooks';
import { formatRelative, formatUtc, timeOf } from '../time.ts';
import { useWatched } from '../watch.ts';

/** The time, which is current to `everyMs` while it runs. */
function useTime(everyMs: number, isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isRunning]);
  return now;
}

/** The time beside what is read again while the page is watched: it stops with that. */
export function useNow(everyMs: number): number {
  return useTime(everyMs, useWatched());
}

/** The time beside what ends by itself, even while the page is not watched. */
export function useClock(everyMs: number): number {
  return useTime(everyMs, true);
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
