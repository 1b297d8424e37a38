import { minuteOf } from '../time.ts';
import { polls } from '../use-query.ts';
import { useWatched } from '../watch.ts';

function reload(): void {
  for (const poll of polls) poll.reload();
}

/** When the page was read, once it is no longer read by itself. It takes no place: nothing may move under a pointer. */
export function Stale() {
  const isSeen = useWatched();
  const times = [...polls].flatMap(({ readAtMs }) => readAtMs ?? []);
  if (isSeen || times.length === 0) return null;
  return (
    <p className="stale">
      {`Updated ${minuteOf(new Date(Math.min(...times)).toISOString())} · `}
      <button className="link" onClick={reload}>
        Refresh
      </button>
    </p>
  );
}
