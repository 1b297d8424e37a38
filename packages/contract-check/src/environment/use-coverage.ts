import { dayOf } from '../workspace/version-status.ts';
import { span } from './environment.ts';
import type { Environment } from './generated/files.ts';
import type { Question } from './question.ts';

const dayMs = 86_400_000;
/** A live instance has not stored its newest counts yet. */
const notStoredYetMs = 180_000;

/** The uses of a version of an interface, or of a coordinate of it, in the window. The newest is first. */
export function usesOf(question: Question, version: string, coordinate: string | null): Environment['uses'] {
  const oldest = oldestDay(question);
  return question.environment.uses
    .filter((use) => `${use.interface}@${use.version}` === version && use.lastDay >= oldest)
    .filter((use) => coordinate === null || use.coordinate === coordinate)
    .toSorted((a, b) => (a.lastDay < b.lastDay ? 1 : -1));
}

/** The first day on which a use counts. */
export function oldestDay({ environment, unusedForMs }: Question): string {
  return dayOf(new Date(Date.parse(environment.takenAt) - unusedForMs));
}

/**
 * Why no rows do not mean no use of an interface: one sentence for each app that serves it and did not count its use in the whole
 * window, except for gaps of at most `maxGapMs` in a UTC day. If there is none, the question lists these gaps.
 *
 * @param coordinate a deprecated one, which is counted only since it is: `2026-11-01 Query.old`. Null for the version
 */
export function uncountedUse(question: Question, interfaceName: string, coordinate: string | null): string[] {
  const serving = question.known.filter(({ serves }) => serves.some((each) => each.interface === interfaceName));
  return [...new Set(serving.map(({ app }) => app))].flatMap((app) => uncountedIn(question, app, coordinate));
}

function uncountedIn(question: Question, app: string, coordinate: string | null): string[] {
  const { environment, unusedForMs, maxGapMs } = question;
  const until = Date.parse(environment.takenAt);
  const start = until - unusedForMs;
  const ofApp = <T extends Pick<Environment['gaps'][number], 'app' | 'from' | 'until'>>(periods: readonly T[]) =>
    periods
      .filter((each) => each.app === app)
      .map((each) => ({ ...each, from: Date.parse(each.from), until: Date.parse(each.until) }))
      .toSorted((a, b) => a.from - b.from);
  const { counted = [], other = [] } = Object.groupBy(ofApp(environment.counting), ({ overflowed, coordinates }) =>
    !overflowed && (coordinate === null || coordinates.has(coordinate)) ? 'counted' : 'other',
  );
  const [first] = counted;
  if (first === undefined) return [`${app} did not count use.`];
  const stated = ofApp(environment.gaps);
  const ofInstances = [
    ...stated,
    ...other.filter((each) => !stated.some((gap) => gap.from <= each.from && gap.until >= each.until)),
  ];
  const ofAll: { from: number; until: number }[] = [];
  let end = Math.max(start, first.from);
  for (const period of [...counted, ...ofInstances, { from: until - notStoredYetMs, until }].toSorted(
    (a, b) => a.from - b.from,
  )) {
    if (period.from > end) ofAll.push({ from: end, until: period.from });
    end = Math.max(end, period.until);
  }
  const firstDay = Math.floor(start / dayMs);
  const days = Array.from({ length: Math.ceil(until / dayMs) - firstDay }, (_, index) => {
    const from = Math.max(start, (firstDay + index) * dayMs);
    const to = Math.min(until, (firstDay + index + 1) * dayMs);
    const msOf = (gap: (typeof ofAll)[number]): number =>
      Math.max(0, Math.min(gap.until, to) - Math.max(gap.from, from));
    const instances = ofInstances.filter((gap) => msOf(gap) > 0);
    const ms = [...instances, ...ofAll].reduce((sum, gap) => sum + msOf(gap), 0);
    return { day: dayOf(new Date(from)), instances, ms };
  });
  const [from, ...others] = days.filter(({ ms }) => ms > maxGapMs);
  const missing =
    first.from <= start
      ? []
      : [`${app} has counted use for ${span(until - first.from)}, not for ${span(unusedForMs)}.`];
  if (from !== undefined) {
    const { size } = new Set([from, ...others].flatMap(({ instances }) => instances));
    const who = size === 0 ? 'no instance counted' : `${size} instance${size === 1 ? '' : 's'} did not count`;
    const to = others.at(-1);
    missing.push(`${app}: ${who} use ${to === undefined ? `on ${from.day}` : `from ${from.day} to ${to.day}`}.`);
  }
  if (missing.length === 0)
    for (const { day, ms } of days)
      if (ms > 0) question.gaps.add(`${app} did not count use for ${span(ms)} on ${day}.`);
  return missing;
}
