import { quantile } from 'simple-statistics';
import type { Arrived } from './ledger.ts';

/** By `machineMs()`. */
export interface Phase {
  startMs: number;
  /** When the pressure begins, and when it has ended. */
  pressureMs: number;
  reliefMs: number;
  endMs: number;
}

/** Of a part of a phase. */
export interface Window {
  committedPerSecond: number;
  arrivedPerSecond: number;
  /** From commit to arrival, of the events that were committed in it, without those of a burst. Null without any. */
  p99Ms: number | null;
}

/** The commits of this time are no backlog. */
const calmMs = 1_000;

/** @param arrived all that was committed */
export function summarize(arrived: readonly Arrived[], { startMs, pressureMs, reliefMs, endMs }: Phase) {
  const within = (fromMs: number, toMs: number): Window => {
    const seconds = (toMs - fromMs) / 1000;
    const isWithin = (ms: number) => ms >= fromMs && ms < toMs;
    const committed = arrived.filter(({ committedMs }) => isWithin(committedMs));
    const latencies = committed.filter(({ isBurst }) => !isBurst).map((each) => each.arrivedMs - each.committedMs);
    return {
      committedPerSecond: committed.length / seconds,
      arrivedPerSecond: arrived.filter(({ arrivedMs }) => isWithin(arrivedMs)).length / seconds,
      p99Ms: latencies.length === 0 ? null : quantile(latencies, 0.99),
    };
  };
  const before = within(startMs, pressureMs);
  const during = within(pressureMs, reliefMs);
  const calm = (before.committedPerSecond * calmMs) / 1000;
  const backlogs = backlogEach(arrived, pressureMs);
  const goneMs = backlogs.find(({ atMs, events }) => atMs >= reliefMs && events <= calm)?.atMs ?? null;
  return {
    before,
    during,
    after: within(reliefMs, endMs),
    /** Of the rate before the pressure, at most what was committed. */
    share: during.arrivedPerSecond / before.arrivedPerSecond,
    backlogMost: backlogs.reduce((most, { events }) => Math.max(most, events), 0),
    /** From the end of the pressure until less than the commits of a second had not arrived. */
    backlogGoneMs: goneMs === null ? null : goneMs - reliefMs,
  };
}

/** How many events were committed and had not arrived, at each change from `fromMs` on. */
function backlogEach(arrived: readonly Arrived[], fromMs: number): { atMs: number; events: number }[] {
  const changes = arrived
    .flatMap(({ committedMs, arrivedMs }) => [
      { atMs: committedMs, by: 1 },
      { atMs: arrivedMs, by: -1 },
    ])
    .toSorted((one, other) => one.atMs - other.atMs);
  let events = 0;
  const backlogs = changes.map(({ atMs, by }) => ({ atMs, events: (events += by) }));
  return backlogs.filter(({ atMs }) => atMs >= fromMs);
}
