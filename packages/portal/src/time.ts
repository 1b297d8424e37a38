const localDay = new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' });

/** As `formatTime`, now and for a time of the interface. */
export function timeOf(iso: string): string {
  return formatTime(Date.parse(iso), Date.now());
}

/** `in 6 min` or `5 h 8 min ago` */
export function formatRelative(iso: string, nowMs: number): string {
  const difference = Date.parse(iso) - nowMs;
  return difference >= 0 ? `in ${formatDuration(difference)}` : `${formatDuration(-difference)} ago`;
}

/** Local time: without the day if it is today, without the year if it is this one. */
export function formatTime(ms: number, nowMs: number): string {
  const day = localDay.format(ms);
  const today = localDay.format(nowMs);
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  if (day === today) return new Intl.DateTimeFormat('en-GB', time).format(ms);
  const year = day.slice(0, 4) === today.slice(0, 4) ? {} : ({ year: 'numeric' } as const);
  return new Intl.DateTimeFormat('en-GB', { ...year, day: 'numeric', month: 'short', ...time }).format(ms);
}

const localMinute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** Local time to the minute: `17:28`, or with the day if that is not today. */
export function minuteOf(iso: string): string {
  const ms = Date.parse(iso);
  return localDay.format(ms) === localDay.format(Date.now()) ? localMinute.format(ms) : dayAndMinuteOf(ms);
}

/** `2 Dec at 17:28` */
export function dayAndMinuteOf(ms: number): string {
  return `${new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }).format(ms)} at ${localMinute.format(ms)}`;
}

/** A calendar date, for example of a sunset. */
export function formatDay(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(date));
}

/** `2026-11-26 18:40:11.114 UTC` */
export function formatUtc(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC');
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** The two largest units: `5 h 8 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first === -1) return '0 s';
  const parts = units.slice(first, first + 2).map(([unit, size], index) => {
    const above = index === 0 ? Infinity : (units[first]?.[1] ?? Infinity);
    return [Math.floor((seconds % above) / size), unit] as const;
  });
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count} ${unit}`])).join(' ');
}

const interfaceTime = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** A time as the interface takes it, of an address that anybody can write. Null for any other text: `Date.parse` takes `-1`. */
export function timeInAddress(text: string | null): string | null {
  const [iso, day] = interfaceTime.exec(text ?? '') ?? [];
  if (iso === undefined || Number.isNaN(Date.parse(iso))) return null;
  // `Date.parse` takes February 30 as March 2.
  return new Date(`${iso.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(day) ? iso : null;
}

/** What a clock on the wall shows, as if it were in UTC. */
function wallMsOf(ms: number): number {
  return ms - new Date(ms).getTimezoneOffset() * 60_000;
}

/** The value of a `datetime-local` input, which has neither an offset nor milliseconds. Empty for null and for what is no time. */
export function toLocalInput(iso: string | null): string {
  const wall = new Date(wallMsOf(Date.parse(iso ?? '')));
  return Number.isNaN(wall.getTime()) ? '' : wall.toISOString().slice(0, 19);
}

/**
 * The time of a `datetime-local` input. Null if it is empty.
 *
 * @param replaced the time that the input showed, which is kept to the millisecond if the input still shows it. When clocks go
 *   back, a value names two times: the one with the offset of `replaced` counts, otherwise the earlier one. When clocks go
 *   forward, a value can name no time: it counts with the offset before the change.
 */
export function fromLocalInput(value: string, replaced: string): string | null {
  const [wallMs, replacedMs] = [Date.parse(`${value}Z`), Date.parse(replaced)];
  if (wallMs === Math.floor(wallMsOf(replacedMs) / 1000) * 1000) return replaced;
  const sameOffsetMs = wallMs + new Date(replacedMs).getTimezoneOffset() * 60_000;
  const ms = wallMsOf(sameOffsetMs) === wallMs ? sameOffsetMs : Date.parse(value);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** The zone of the browser at a time: `EST`, or `GMT+10:30` where English of the US has no name. */
export function zoneOf(iso: string): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(Date.parse(iso));
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
