import { InvalidArgumentError } from 'commander';

const secondsOf: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const dayMs = 86_400_000;

/** What the options for a time in the past accept, for their descriptions. */
export const pastTimes = '1h (ago), today, yesterday, 2027-01-31 or 2027-01-31T12:00Z, in UTC';

/** The same for a time in the future. */
export const futureTimes = '90d (from now), 2027-01-31 or 2027-01-31T12:00Z, in UTC';

/** Parses a duration before now, a date (midnight UTC) or a time in UTC. */
export const parsePastTime = timeParser(-1);

/** Parses a duration from now, a date (midnight UTC) or a time in UTC. */
export const parseFutureTime = timeParser(1);

export function timeParser(direction: -1 | 1, nowMs = () => Date.now()): (value: string) => Date {
  return (value) => {
    const time = (direction === -1 ? namedDay(value, nowMs()) : null) ?? durationFrom(value) ?? calendarTime(value);
    // PostgreSQL has no year 0.
    if (time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9_999) return time;
    throw new InvalidArgumentError(`It must be a time such as ${direction === -1 ? pastTimes : futureTimes}.`);
  };

  function durationFrom(value: string): Date | null {
    const seconds = durationSeconds(value);
    return seconds === null ? null : new Date(nowMs() + direction * seconds * 1_000);
  }
}

function namedDay(value: string, nowMs: number): Date | null {
  const daysAgo = ['today', 'yesterday'].indexOf(value);
  return daysAgo === -1 ? null : new Date((Math.floor(nowMs / dayMs) - daysAgo) * dayMs);
}

/** An invalid date for any other text. */
function calendarTime(value: string): Date {
  const time = new Date(value);
  const isWellFormed = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/.test(value);
  // JavaScript reads 2027-02-30 as 2027-03-02.
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value.slice(0, 10));
  return isWellFormed && isReal ? time : new Date(Number.NaN);
}

/** Parses a duration, for example `90s`, `30m`, `1h`, `7d` or `0`, into seconds. */
export function parseDuration(value: string): number {
  const seconds = value === '0' ? 0 : durationSeconds(value);
  if (seconds === null) throw new InvalidArgumentError('It must be a duration such as 90s, 30m, 1h, 7d or 0.');
  return seconds;
}

/** Null if the text is not a number with a unit. */
function durationSeconds(value: string): number | null {
  const [, count, unit = ''] = /^(\d{1,8})([smhd])$/.exec(value) ?? [];
  return count === undefined ? null : Number(count) * (secondsOf[unit] ?? 0);
}
