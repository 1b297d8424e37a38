import { max, median, min, quantile } from 'simple-statistics';
import { ours } from '../delivery/workloads.ts';
import { introduction, markdownTable, type ReportHead, times, wholeNumber } from '../report.ts';
import { type Done, knownMedian, medianRatio, perSecond, rateRatio } from '../rounds.ts';

/** One round with a fixed number of events. An operation is a delivery; the time ends when the last one arrived. */
export interface EventsRound extends Done {
  /** Of all processes of the service. Null if it is not known. */
  cpuMs: number | null;
}

/** By part, the results of each service, ours last. */
export interface ServicesResults {
  one?: (Named & RateResult)[];
  twenty?: (Named & RateResult)[];
  idle?: (Named & LatencyResult)[];
  hanging?: (Named & LatencyResult)[];
}

interface Named {
  name: string;
}

export interface ServicesReport extends ReportHead, ServicesResults {
  connections: number;
  rounds: number;
  /** In the part `hanging`. */
  hangingEndpoints: number;
}

type RateResult = ReturnType<typeof rateResult>;

/**
 * Medians over the rounds. The ratios divide the values of ours by these in the same round.
 *
 * @param reference the rounds of ours
 */
export function rateResult(rounds: readonly EventsRound[], reference: readonly EventsRound[]) {
  const rates = rounds.map(perSecond);
  return {
    perSecond: median(rates),
    lowestPerSecond: min(rates),
    highestPerSecond: max(rates),
    cpuSeconds: knownMedian(rounds.map(cpuSeconds)),
    rateRatio: rateRatio(reference, rounds),
    cpuRatio: medianRatio(reference, rounds, cpuSeconds),
  };
}

type LatencyResult = ReturnType<typeof latencyResult>;

/** @param latenciesMs infinite for an event that did not arrive within `timeoutMs` of the last call */
export function latencyResult(latenciesMs: readonly number[], timeoutMs: number) {
  const at = (fraction: number): number | null => {
    const ms = quantile(latenciesMs, fraction);
    return Number.isFinite(ms) ? ms : null;
  };
  const missing = latenciesMs.filter((ms) => !Number.isFinite(ms)).length;
  return { events: latenciesMs.length, missing, timeoutMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Per 1,000 deliveries. */
function cpuSeconds({ operations, cpuMs }: EventsRound): number | null {
  return cpuMs === null ? null : cpuMs / operations;
}

/** A row of a table. None if the part did not run, or if the value is not known of any service. */
function row<Result>(title: string, results: readonly Result[] = [], cell: (result: Result) => string | null) {
  const cells = results.map(cell);
  return cells.every((each) => each === null) ? [] : [[title, ...cells.map((each) => each ?? '–')]];
}

export function servicesMarkdown(report: ServicesReport): string {
  const { connections, rounds, hangingEndpoints, one, twenty, idle, hanging } = report;
  const rateRows = (results: ServicesResults['one'], title: string, unit: string) => [
    ...row(`${title}, ${unit} per second`, results, rateCell),
    ...row(`the same, ${ours} in the same round`, results, ({ rateRatio: ratio }) => times(ratio)),
    ...row(`the same, CPU seconds per 1,000 ${unit}`, results, ({ cpuSeconds: cpu }) => cpu?.toFixed(2) ?? null),
    ...row(`the same, ${ours} in the same round`, results, ({ cpuRatio: ratio }) =>
      ratio === null ? null : times(ratio),
    ),
  ];
  const title = `services: ${connections} connections, medians of ${rounds} interleaved rounds with the lowest and the highest.`;
  return [
    introduction(title, report),
    markdownTable([
      ['', ...(one ?? twenty ?? idle ?? hanging ?? []).map(({ name }) => name)],
      ...rateRows(one, 'call to delivery, 1 endpoint', 'events'),
      ...rateRows(twenty, '20 endpoints per event', 'deliveries'),
      ...row('idle: call to arrival, p50 / p99', idle, latencyCell),
      ...row(`beside ${hangingEndpoints} hanging endpoints of others: p50 / p99`, hanging, latencyCell),
    ]),
  ].join('\n\n');
}

function rateCell({ perSecond: rate, lowestPerSecond, highestPerSecond }: RateResult): string {
  return `${wholeNumber(rate)} (${wholeNumber(lowestPerSecond)}–${wholeNumber(highestPerSecond)})`;
}

const msCell = (ms: number | null): string => (ms === null ? '–' : `${ms.toFixed(1)} ms`);

function latencyCell({ events, missing, timeoutMs, p50Ms, p99Ms }: LatencyResult): string {
  const values = `${msCell(p50Ms)} / ${msCell(p99Ms)}`;
  return missing === 0 ? values : `${values}, ${missing} of ${events} missing after ${timeoutMs / 1000} s`;
}
