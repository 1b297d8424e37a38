import { median, quantile } from 'simple-statistics';
import { ours } from '../delivery/report.ts';
import { markdownTable } from '../markdown-table.ts';
import { introduction, type Machine } from '../report.ts';

/** One round with a fixed number of events. */
export interface EventsRound {
  deliveries: number;
  /** From the first call until the last delivery arrived. */
  elapsedMs: number;
  /** Of all processes of the service. Null if it is not known. */
  cpuMs: number | null;
}

/** Medians over the rounds. */
export interface RateResult {
  perSecond: number;
  lowestPerSecond: number;
  highestPerSecond: number;
  /** CPU seconds per 1,000 deliveries. Null if it is not known. */
  cpuSeconds: number | null;
  /** The rate of ours divided by this one in the same round. */
  rateRatio: number;
  /** The CPU time of ours per delivery divided by this one in the same round. */
  cpuRatio: number | null;
}

/** From the call to the arrival. */
export interface LatencyResult {
  events: number;
  /** Events that did not arrive within `timeoutMs` of the last call. */
  missing: number;
  timeoutMs: number;
  /** Null: had not arrived. */
  p50Ms: number | null;
  p99Ms: number | null;
}

/** What was measured of one service. Null for a part that did not run. */
export interface ServiceResult {
  name: string;
  one: RateResult | null;
  twenty: RateResult | null;
  idle: LatencyResult | null;
  hanging: LatencyResult | null;
}

export interface ServicesReport {
  bench: 'services';
  quick: boolean;
  machine: Machine;
  connections: number;
  rounds: number;
  /** In the part `hanging`. */
  hangingEndpoints: number;
  /** Ours last. */
  services: ServiceResult[];
}

/** @param reference the rounds of ours */
export function rateResult(rounds: readonly EventsRound[], reference: readonly EventsRound[]): RateResult {
  const rates = rounds.map(perSecond);
  const ratios = (value: (round: EventsRound) => number | null): number | null =>
    knownMedian(
      rounds.map((round, index) => {
        const other = reference[index];
        const [dividend, divisor] = [other === undefined ? null : value(other), value(round)];
        return dividend === null || divisor === null ? null : dividend / divisor;
      }),
    );
  return {
    perSecond: median(rates),
    lowestPerSecond: Math.min(...rates),
    highestPerSecond: Math.max(...rates),
    cpuSeconds: knownMedian(rounds.map(cpuSeconds)),
    rateRatio: ratios(perSecond) ?? Number.NaN,
    cpuRatio: ratios(cpuSeconds),
  };
}

/** @param latenciesMs infinite for an event that did not arrive within `timeoutMs` of the last call */
export function latencyResult(latenciesMs: readonly number[], timeoutMs: number): LatencyResult {
  const at = (fraction: number): number | null => {
    const ms = quantile(latenciesMs, fraction);
    return Number.isFinite(ms) ? ms : null;
  };
  const missing = latenciesMs.filter((ms) => !Number.isFinite(ms)).length;
  return { events: latenciesMs.length, missing, timeoutMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function perSecond({ deliveries, elapsedMs }: EventsRound): number {
  return (deliveries / elapsedMs) * 1000;
}

/** Per 1,000 deliveries. */
function cpuSeconds({ deliveries, cpuMs }: EventsRound): number | null {
  return cpuMs === null ? null : cpuMs / deliveries;
}

function knownMedian(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? median(known) : null;
}

export function servicesMarkdown(report: ServicesReport): string {
  const { quick, machine, connections, rounds, hangingEndpoints, services } = report;
  const row = <Value>(
    title: string,
    value: (result: ServiceResult) => Value | null,
    cell: (value: Value) => string,
  ) => {
    const values = services.map(value);
    if (values.every((each) => each === null)) return [];
    return [[title, ...values.map((each) => (each === null ? '–' : cell(each)))]];
  };
  const rateRows = (name: 'one' | 'twenty', title: string, unit: string) => [
    ...row(`${title}, ${unit} per second`, (result) => result[name], rateCell),
    ...row(`the same, ${ours} in the same round`, (result) => result[name]?.rateRatio ?? null, ratioCell),
    ...row(`the same, CPU seconds per 1,000 ${unit}`, (result) => result[name]?.cpuSeconds ?? null, cpuCell),
    ...row(`the same, ${ours} in the same round`, (result) => result[name]?.cpuRatio ?? null, ratioCell),
  ];
  const title = `services: ${connections} connections, medians of ${rounds} interleaved rounds with the lowest and the highest.`;
  return [
    introduction(title, quick, machine),
    markdownTable([
      ['', ...services.map(({ name }) => name)],
      ...rateRows('one', 'call to delivery, 1 endpoint', 'events'),
      ...rateRows('twenty', '20 endpoints per event', 'deliveries'),
      ...row('idle: call to arrival, p50 / p99', ({ idle }) => idle, latencyCell),
      ...row(
        `beside ${hangingEndpoints} hanging endpoints of others: p50 / p99`,
        ({ hanging }) => hanging,
        latencyCell,
      ),
    ]),
  ].join('\n\n');
}

const wholeNumber = (rate: number): string => Math.round(rate).toLocaleString('en-US');

function rateCell({ perSecond: rate, lowestPerSecond, highestPerSecond }: RateResult): string {
  return `${wholeNumber(rate)} (${wholeNumber(lowestPerSecond)}–${wholeNumber(highestPerSecond)})`;
}

const ratioCell = (ratio: number): string => `${ratio.toFixed(2)} ×`;

const cpuCell = (seconds: number): string => seconds.toFixed(2);

const msCell = (ms: number | null): string => (ms === null ? '–' : `${ms.toFixed(1)} ms`);

function latencyCell({ events, missing, timeoutMs, p50Ms, p99Ms }: LatencyResult): string {
  const values = `${msCell(p50Ms)} / ${msCell(p99Ms)}`;
  return missing === 0 ? values : `${values}, ${missing} of ${events} missing after ${timeoutMs / 1000} s`;
}
