import { minuteOf } from './time.ts';
import { countedUntil, plural } from './words.ts';

export interface Hour {
  readonly hour: string;
  readonly deliveredCount: number;
  readonly failedAttemptCount: number;
}

const height = 34;

/** Delivered and failed of each hour, on one scale, and their sums in words. What is not zero has at least 2 pixels. */
export function Bars({ hours, readAtMs }: { hours: readonly Hour[]; readAtMs: number }) {
  const until = `${countedUntil(readAtMs)}, once a minute`;
  const largest = Math.max(0, ...hours.map((hour) => hour.deliveredCount + hour.failedAttemptCount));
  if (largest === 0) return <p className="soft">{`Nothing in the last ${hours.length} hours, ${until}.`}</p>;
  const sizeOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / largest) * (height - 4)));
  const total = (name: 'deliveredCount' | 'failedAttemptCount') => hours.reduce((sum, hour) => sum + hour[name], 0);
  const [delivered, failed] = wordsOf(total('deliveredCount'), total('failedAttemptCount'));
  const bars = hours.map(({ hour, deliveredCount, failedAttemptCount }, at) => {
    const below = Math.max(1, sizeOf(deliveredCount));
    const above = sizeOf(failedAttemptCount);
    return (
      <g key={hour} transform={`translate(${at * 10})`}>
        <title>{`${minuteOf(hour)}: ${wordsOf(deliveredCount, failedAttemptCount).join(', ')}`}</title>
        <rect className="hit" width="10" height={height} />
        <rect y={height - below} width="8" height={below} />
        <rect className="failed" y={height - below - above} width="8" height={above} />
      </g>
    );
  });
  return (
    <figure className="hours">
      <svg
        className="bars"
        viewBox={`0 0 ${hours.length * 10} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${delivered}, ${failed} in ${hours.length} hours`}
      >
        {bars}
      </svg>
      <small>
        <span>{minuteOf(hours[0]?.hour ?? '')}</span>
        <span>{`at most ${largest.toLocaleString('en')} an hour`}</span>
        <span>now</span>
      </small>
      <figcaption>
        <span className="phase0">{delivered}</span>
        <span className="failed">{`${failed} in ${hours.length} h`}</span>
        <small>{until}</small>
      </figcaption>
    </figure>
  );
}

function wordsOf(delivered: number, failed: number): readonly [string, string] {
  return [`${delivered.toLocaleString('en')} delivered`, plural(failed, 'attempt failed', 'attempts failed')];
}
