import { dayOf } from '../workspace/version-status.ts';
import { span, type Environment } from './environment.ts';

const dayMs = 86_400_000;
/** A live instance has not stored its newest counts yet. */
const notStoredYetMs = 180_000;

interface Gap {
  readonly from: number;
  readonly until: number;
  /** Whether other instances counted. */
  readonly isOfInstance: boolean;
}

/** Sentences. None is missing if the counts are complete, so that no rows mean no use. `gaps` are short enough. */
export type Coverage = Readonly<Record<'missing' | 'gaps', readonly string[]>>;

/**
 * Whether an app counted its use in the whole window before the snapshot, except for gaps of at most `maxGapMs` in a UTC day.
 *
 * @param coordinate a deprecated one, which is counted only since it is: `2026-11-01 Query.old`. Null for the version
 */
export function coverageOf(
  environment: Environment,
  app: string,
  coordinate: string | null,
  windowMs: number,
  maxGapMs: number,
): Coverage {
  const until = Date.parse(environment.takenAt);
  const start = until - windowMs;
  const periods = environment.counting
    .filter((each) => each.app === app)
    .map(({ from, until: to, overflowed, coordinates }) => ({
      from: Date.parse(from),
      until: Date.parse(to),
      isCounted: !overflowed && (coordinate === null || coordinates.split('\n').includes(coordinate)),
    }));
  const counted = periods.filter(({ isCounted }) => isCounted).toSorted((a, b) => a.from - b.from);
  const [first] = counted;
  if (first === undefined) return { missing: [`${app} did not count use.`], gaps: [] };
  const missing =
    first.from <= start ? [] : [`${app} has counted use for ${span(until - first.from)}, not for ${span(windowMs)}.`];
  const stated = environment.gaps
    .filter((each) => each.app === app)
    .map((each): Gap => ({ from: Date.parse(each.from), until: Date.parse(each.until), isOfInstance: true }));
  const uncounted = periods
    .filter((each) => !each.isCounted && !stated.some((gap) => gap.from <= each.from && gap.until >= each.until))
    .map((each): Gap => ({ from: each.from, until: each.until, isOfInstance: true }));
  const gaps = [...stated, ...uncounted];
  let end = Math.max(start, first.from);
  for (const { from, until: to } of [...counted, ...gaps, { from: until - notStoredYetMs, until }].toSorted(
    (a, b) => a.from - b.from,
  )) {
    if (from > end) gaps.push({ from: end, until: from, isOfInstance: false });
    end = Math.max(end, to);
  }
  const byDay = Map.groupBy(
    gaps.flatMap((gap) => daysOf(gap, start, until)),
    ({ day }) => day,
  );
  const days = [...byDay].map(([day, parts]) => ({ day, parts, ms: parts.reduce((sum, { ms }) => sum + ms, 0) }));
  const long = days.filter(({ ms }) => ms > maxGapMs).toSorted((a, b) => a.day - b.day);
  const [from, to] = [long[0], long.at(-1)];
  if (from !== undefined && to !== undefined) {
    const instances = new Set(long.flatMap(({ parts }) => parts.map(({ gap }) => gap))).size;
    const who = long.every(({ parts }) => parts.every(({ gap }) => !gap.isOfInstance))
      ? 'no instance counted'
      : `${instances} instance${instances === 1 ? '' : 's'} did not count`;
    const when = from === to ? `on ${textOf(from.day)}` : `from ${textOf(from.day)} to ${textOf(to.day)}`;
    missing.push(`${app}: ${who} use ${when}.`);
  }
  const short = days.filter(({ ms }) => ms > 0 && ms <= maxGapMs);
  return { missing, gaps: short.map(({ day, ms }) => `${app} did not count use for ${span(ms)} on ${textOf(day)}.`) };
}

/** The UTC days of the part of a gap that is in the window. */
function daysOf(gap: Gap, start: number, end: number) {
  const [from, until] = [Math.max(gap.from, start), Math.min(gap.until, end)];
  const first = Math.floor(from / dayMs);
  return Array.from({ length: Math.max(0, Math.ceil(until / dayMs) - first) }, (_, index) => {
    const day = first + index;
    return { gap, day, ms: Math.min(until, (day + 1) * dayMs) - Math.max(from, day * dayMs) };
  });
}

function textOf(day: number): string {
  return dayOf(new Date(day * dayMs));
}
