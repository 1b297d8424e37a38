import type { ProcessMemory } from '../app-process.ts';
import { markdownTable, wholeNumber } from '../markdown-table.ts';
import { latencyHeader, latencyRow, type LatencySummary } from './latency-summary.ts';
import type { PairResult } from './our-pair.ts';
import type { PeerName } from './peers/index.ts';
import type { RateResult } from './rate-rounds.ts';
import type { WriteContestantResult } from './write/rounds.ts';

export interface RatesResult {
  /** Ours in the first workload. */
  deliveriesPerSecond: number;
  /** Ours divided by each peer in the first workload. Null for a peer that could not run. */
  ratios: Record<PeerName, number | null>;
  rounds: number;
  perRound: number;
  workloads: { name: string; title: string; results: RateResult[]; ratios: Record<PeerName, number | null> }[];
  /** Why a peer could not run. */
  unavailable: Partial<Record<PeerName, string>>;
}

export interface LatencyResult {
  idle: LatencySummary;
  halfLoad: LatencySummary & {
    /** The load beside the measured events. */
    deliveriesPerSecond: number;
  };
}

export interface HangingRound {
  alone: LatencySummary;
  /** The first second, in which the deliveries to the endpoints are fanned out and the connections open. */
  start: LatencySummary;
  /** The minute after it. */
  beside: LatencySummary;
  /** The p99 of `beside` divided by that of `alone`. */
  p99Ratio: number;
  endpoints: number;
  /** Deliveries to the endpoints that wait when the measurement starts. */
  waiting: number;
}

/** The round with the median of the ratios. */
export interface HangingResult extends HangingRound {
  /** Of all rounds, in order. */
  p99Ratios: number[];
}

export interface WorkersResult {
  /** Each has one subscription. */
  accounts: number;
  results: { workers: number; deliveriesPerSecond: number }[];
}

/** Without HTTP: every attempt succeeds at once. */
export interface StoreResult {
  /** Each has one subscription. */
  accounts: number;
  deliveriesPerSecond: number;
}

export interface AccountResult {
  subscriptions: number;
  /** Of each receiver. */
  responseMs: number;
  /** The most requests that the account may have in flight. */
  inFlight: number;
  deliveriesPerSecond: number;
  /** The highest rate with these requests in flight. */
  bound: number;
}

export interface WriteResult {
  connections: number;
  rounds: number;
  roundMs: number;
  /** Ours first, without and with idempotency keys. */
  results: WriteContestantResult[];
}

export interface FairResult {
  rounds: number;
  roundMs: number;
  /** The p99 of the mutations of a client alone on one connection, beside the load of `connections`. */
  crowd: {
    connections: number;
    /** The load is of a client on each connection. */
    spreadP99Ms: number;
    /** The load is of one client. */
    oneClientP99Ms: number;
    /** The second divided by the first in the same round. */
    p99Ratio: number;
  };
  /** The rate of other clients while a client writes to an account that is locked. */
  locked: {
    /** Of the other clients, one each. */
    connections: number;
    /** Of the client of the locked account. */
    lockedConnections: number;
    lockedMs: number;
    alonePerSecond: number;
    besidePerSecond: number;
    /** The second divided by the first in the same round. */
    rateRatio: number;
    /** The mutations of the locked account that got 503 in a round. */
    refused: number;
  };
}

export interface MemoryResult {
  connections: number;
  durationMs: number;
  eventsPerSecond: number;
  apps: {
    name: string;
    /** When the app is ready, and after the load. */
    before: ProcessMemory;
    after: ProcessMemory;
  }[];
}

export interface StatementsResult {
  /** Statements of the worker for an event with one delivery, without those that it also runs when idle. */
  perDelivery: number;
  idlePerSecond: number;
  /** Per delivery, by the name of the statement. A negative number: run less often than when idle. */
  byName: Record<string, number>;
}

/** Milliseconds that the statements of the worker take in the server per 1,000 deliveries, by the name of the statement. */
export type StatementTimes = Record<string, number>;

export interface HistoryResult {
  sizes: {
    storedDeliveries: number;
    deliveriesPerSecond: number;
    /** Events that are fanned out, sent and settled. */
    newEvents: StatementTimes;
    /** Deliveries that wait when the worker starts: claimed, sent and settled. */
    backlog: StatementTimes;
  }[];
  /** The sum of the times with the large history divided by that with the small one. */
  growth: { newEvents: number; backlog: number };
}

/** Our row in the tables. */
export const ours = 'deedwire';

export function ratesMarkdown({ rounds, perRound, workloads: each, unavailable }: RatesResult): string {
  const title = `Deliveries per second: ${rounds} interleaved rounds of ${perRound} deliveries, medians. "ours" is the rate of ${ours} divided by that of the row in the same round.`;
  const missing = Object.entries(unavailable).map(([name, reason]) => `${name}: ${reason}`);
  const retries = each.flatMap(({ results }) => results).reduce((total, result) => total + result.retries, 0);
  const repeated = retries === 0 ? [] : [`${retries} attempts timed out and were repeated.`];
  return [title, ...each.map(workloadTable), ...missing, ...repeated].join('\n\n');
}

function workloadTable({ name, title, results, ratios }: RatesResult['workloads'][number]): string {
  const ratioTo = new Map<string, number | null>(Object.entries(ratios));
  return markdownTable([
    [`(${name}) ${title}`, 'per second', 'ours', 'CPU per delivery', 'CPU of the store', 'WAL'],
    ...results.map((result) => [
      result.name,
      wholeNumber(result.perSecond),
      `${(ratioTo.get(result.name) ?? 1).toFixed(2)} ×`,
      ...costCells(result),
    ]),
  ]);
}

/** The CPU time of a delivery in the process that sends and in the store, and its WAL. */
function costCells({ cpuMicroseconds, storeCpuMicroseconds, walBytes }: RateResult): string[] {
  return [cell(cpuMicroseconds, 'µs'), cell(storeCpuMicroseconds, 'µs'), cell(walBytes, 'B')];
}

function cell(value: number | null, unit: string): string {
  return value === null ? '–' : `${value.toFixed(0)} ${unit}`;
}

export function latencyMarkdown({ idle, halfLoad }: LatencyResult): string {
  return markdownTable([
    latencyHeader('Commit to first byte'),
    latencyRow('idle', idle),
    latencyRow(`with ${wholeNumber(halfLoad.deliveriesPerSecond)} deliveries/s`, halfLoad),
  ]);
}

export function hangingMarkdown({
  alone,
  start,
  beside,
  p99Ratio,
  p99Ratios,
  endpoints,
  waiting,
}: HangingResult): string {
  const [count, deliveries] = [endpoints, waiting].map(wholeNumber);
  const each = p99Ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  const runs = p99Ratios.length > 1 ? `, the median of ${p99Ratios.length} runs (${each})` : '';
  return [
    markdownTable([
      latencyHeader('Commit to first byte of one account'),
      latencyRow('alone', alone),
      latencyRow(`while ${deliveries} deliveries to ${count} endpoints that hang are fanned out`, start),
      latencyRow('beside these endpoints, in the minute after that', beside),
    ]),
    `p99 beside these endpoints: ${p99Ratio.toFixed(2)} ×${runs}.`,
  ].join('\n\n');
}

export function pairMarkdown({
  rounds,
  perRound,
  workloads: each,
  rateRatio: { mean, low, high },
}: PairResult): string {
  const tables = each.map(({ name, title, results, rateRatio: ratio }) =>
    [
      markdownTable([
        [`(${name}) ${title}`, 'per second', 'CPU per delivery', 'CPU of the store', 'WAL'],
        ...results.map((result) => [result.name, wholeNumber(result.perSecond), ...costCells(result)]),
      ]),
      `Ratio of the rates in the same round: ${ratio.toFixed(3)} ×.`,
    ].join('\n\n'),
  );
  return [
    `Deliveries per second: ${rounds} interleaved rounds of ${wholeNumber(perRound)} deliveries, medians.`,
    ...tables,
    `Over all rounds: ${mean.toFixed(3)} × (geometric mean; with a probability of 95 % from ${low.toFixed(3)} to ${high.toFixed(3)} ×).`,
  ].join('\n\n');
}

export function workersMarkdown({ accounts, results }: WorkersResult): string {
  return markdownTable([
    [`${accounts} accounts with one subscription each`, 'per second'],
    ...results.map((result) => [
      result.workers === 1 ? '1 worker' : `${result.workers} workers`,
      wholeNumber(result.deliveriesPerSecond),
    ]),
  ]);
}

export function storeMarkdown({ accounts, deliveriesPerSecond }: StoreResult): string {
  return markdownTable([
    [`${accounts} accounts with one subscription each`, 'per second'],
    ['without HTTP', wholeNumber(deliveriesPerSecond)],
  ]);
}

export function accountMarkdown(result: AccountResult): string {
  const { subscriptions, responseMs, inFlight, deliveriesPerSecond, bound } = result;
  return markdownTable([
    [`One account, ${subscriptions} receivers that respond after ${responseMs} ms`, 'per second'],
    ['measured', wholeNumber(deliveriesPerSecond)],
    [`bound: ${inFlight} requests in flight`, wholeNumber(bound)],
  ]);
}

export function writeMarkdown({ connections, rounds, roundMs, results }: WriteResult): string {
  const header = ['until the webhook arrived', 'per second', 'ours', 'CPU per event', 'ours'];
  return [
    `A referral and its webhook, by ${connections} connections of one client: ${rounds} interleaved rounds of ${roundMs / 1000} s, medians. "ours" is the value of ${ours} divided by that of the row in the same round.`,
    markdownTable([
      [...header, 'of the API', 'of the worker', 'of PostgreSQL'],
      ...results.map(({ name, eventsPerSecond, cpu, rateRatio, cpuRatio }) => [
        name,
        wholeNumber(eventsPerSecond),
        `${rateRatio.toFixed(2)} ×`,
        cell(cpu.total, 'µs'),
        cpuRatio === null ? '–' : `${cpuRatio.toFixed(2)} ×`,
        cell(cpu.api, 'µs'),
        cell(cpu.worker, 'µs'),
        cell(cpu.postgres, 'µs'),
      ]),
    ]),
  ].join('\n\n');
}

export function fairMarkdown({ rounds, roundMs, crowd, locked }: FairResult): string {
  return [
    `Medians of ${rounds} interleaved rounds of ${roundMs / 1000} s.`,
    markdownTable([
      [`p99 of a client beside ${crowd.connections} connections`, 'p99', 'ratio'],
      [`of ${crowd.connections} clients`, `${crowd.spreadP99Ms.toFixed(1)} ms`, ''],
      ['of one client', `${crowd.oneClientP99Ms.toFixed(1)} ms`, `${crowd.p99Ratio.toFixed(2)} ×`],
    ]),
    markdownTable([
      [`rate of ${locked.connections} clients`, 'per second', 'ratio'],
      ['alone', wholeNumber(locked.alonePerSecond), ''],
      [
        `beside ${locked.lockedConnections} connections to an account that is locked for ${locked.lockedMs / 1000} s`,
        wholeNumber(locked.besidePerSecond),
        `${locked.rateRatio.toFixed(2)} ×`,
      ],
    ]),
    `${locked.refused} mutations of the locked account were refused in a round.`,
  ].join('\n\n');
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

const spaces = (heap: ProcessMemory['heap']): string =>
  Object.entries(heap)
    .filter(([, bytes]) => bytes >= 2 ** 20)
    .map(([space, bytes]) => `${space} ${mebibytes(bytes)}`)
    .join(', ');

export function memoryMarkdown({ connections, durationMs, eventsPerSecond, apps }: MemoryResult): string {
  const rate = wholeNumber(eventsPerSecond);
  return [
    `${durationMs / 1000} s of referrals with a new idempotency key each, by ${connections} connections: ${rate} per second.`,
    markdownTable([
      ['memory', 'at the start', 'peak', 'at the end', 'buffers', 'heap'],
      ...apps.map(({ name, before, after }) => [
        name,
        mebibytes(before.resident),
        mebibytes(after.residentPeak),
        mebibytes(after.resident),
        mebibytes(after.external),
        spaces(after.heap),
      ]),
    ]),
  ].join('\n\n');
}

export function statementsMarkdown({ perDelivery, idlePerSecond, byName }: StatementsResult): string {
  return [
    `${perDelivery.toFixed(1)} statements per delivery, beside ${idlePerSecond.toFixed(1)} per second when idle.`,
    markdownTable([
      ['statement', 'per delivery'],
      ...Object.entries(byName).map(([name, count]) => [name, count.toFixed(2)]),
    ]),
  ].join('\n\n');
}

export function historyMarkdown({ sizes, growth }: HistoryResult): string {
  const header = sizes.map(({ storedDeliveries }) => storedDeliveries.toLocaleString('en-US'));
  const table = (title: string, kind: 'newEvents' | 'backlog'): string => {
    const names = new Set(sizes.flatMap((size) => Object.keys(size[kind])));
    const rows = [...names].map((name) => [name, ...sizes.map((size) => (size[kind][name] ?? 0).toFixed(2))]);
    const sums = sizes.map((size) => sum(size[kind]).toFixed(2));
    return markdownTable([[title, ...header], ...rows, [`sum: ${growth[kind].toFixed(2)} ×`, ...sums]]);
  };
  const rates = sizes.map((size) => wholeNumber(size.deliveriesPerSecond));
  return [
    'Milliseconds of the statements of the worker per 1,000 deliveries, by the number of stored deliveries.',
    table('new events', 'newEvents'),
    table('waiting when the worker starts', 'backlog'),
    `Deliveries per second: ${rates.join(' and ')}.`,
  ].join('\n\n');
}

/** The time of all statements. */
export function sum(times: StatementTimes): number {
  return Object.values(times).reduce((total, each) => total + each, 0);
}
