import { InvalidArgumentError } from 'commander';

const secondsOf: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses a date (midnight UTC) or a time in UTC. */
export function parseTime(value: string): Date {
  const time = new Date(value);
  const isWellFormed = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/.test(value);
  // JavaScript reads 2027-02-30 as 2027-03-02.
  if (!isWellFormed || Number.isNaN(time.getTime()) || !time.toISOString().startsWith(value.slice(0, 10))) {
    throw new InvalidArgumentError('It must be a date such as 2027-01-31, or a time in UTC such as 2027-01-31T12:00Z.');
  }
  return time;
}

/** Parses a duration, for example `90s`, `30m`, `1h`, `7d` or `0`, into seconds. */
export function parseDuration(value: string): number {
  if (value === '0') return 0;
  const [, count, unit = ''] = /^(\d{1,8})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? Number.NaN);
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('It must be a duration such as 90s, 30m, 1h, 7d or 0.');
  return seconds;
}
