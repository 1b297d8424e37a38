import type { ProcessMemory } from '../app-process.ts';
import type { ResultOf } from '../bench.ts';
import type { DeliveryReport } from '../page/results.ts';
import { markdownTable, times, wholeNumber } from '../report.ts';
import { latencyHeader, latencyRow } from './latency.ts';
import type { PairResult } from './our-pair.ts';
import type { measureCells } from './parts/cells.ts';
import type { RatesResult } from './parts/rates.ts';
import type { WriteResult } from './parts/write.ts';
import type { RateResult } from './rate-rounds.ts';
import { growthOf, type StatementTimes, sumOf } from './statement-log.ts';
import { ours } from './workloads.ts';

export function ratesMarkdown({ rounds, perRound, workloads: each, unavailable }: RatesResult): string {
  const title = `Deliveries per second: ${rounds} interleaved rounds of ${perRound} deliveries, medians. "ours" is the rate of ${ours} divided by that of the row in the same round.`;
  const missing = Object.entries(unavailable).map(([name, reason]) => `${name}: ${reason}`);
  const retries = each.flatMap(({ results }) => results).reduce((total, result) => total + result.retries, 0);
  const repeated = retries === 0 ? [] : [`${retries} attempts timed out and were repeated.`];
  return [title, ...each.map(workloadTable), ...missing, ...repeated].join('\n\n');
}

function workloadTable({ name, title, results, ratios }: RatesResult['workloads'][number]): string {
  return markdownTable([
    [`(${name}) ${title}`, 'per second', 'ours', 'CPU per delivery', 'CPU of the store', 'WAL'],
    ...results.map((result) => [
      result.name,
      wholeNumber(result.perSecond),
      times(ratios[result.name] ?? 1),
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

export function latencyMarkdown({ idle, halfLoad }: DeliveryReport['latency']): string {
  return markdownTable([
    latencyHeader('Commit to first byte'),
    latencyRow('idle', idle),
    latencyRow(`with ${wholeNumber(halfLoad.deliveriesPerSecond)} deliveries/s`, halfLoad),
  ]);
}

export function hangingMarkdown(result: DeliveryReport['hanging']): string {
  const { alone, start, beside, p99Ratio, p99Ratios, endpoints, waiting } = result;
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
    `p99 beside these endpoints: ${times(p99Ratio)}${runs}.`,
  ].join('\n\n');
}

export function pairMarkdown({ rounds, perRound, workloads: each, rateRatio: overall }: PairResult): string {
  const tables = each.map(({ name, title, results, rateRatio: ratio }) =>
    [
      markdownTable([
        [`(${name}) ${title}`, 'per second', 'CPU per delivery', 'CPU of the store', 'WAL'],
        ...results.map((result) => [result.name, wholeNumber(result.perSecond), ...costCells(result)]),
      ]),
      `Ratio of the rates in the same round: ${times(ratio, 3)}.`,
    ].join('\n\n'),
  );
  return [
    `Deliveries per second: ${rounds} interleaved rounds of ${wholeNumber(perRound)} deliveries, medians.`,
    ...tables,
    ratioMarkdown(overall),
  ].join('\n\n');
}

export function ratioMarkdown(ratio: PairResult['rateRatio']): string {
  const [mean, low, high] = [ratio.mean, ratio.low, ratio.high].map((each) => each.toFixed(3));
  return `Over all rounds: ${mean} × (geometric mean; with a probability of 95 % from ${low} to ${high} ×).`;
}

export function workersMarkdown({ accounts, results }: DeliveryReport['workers']): string {
  return markdownTable([
    [`${accounts} accounts with one subscription each`, 'per second'],
    ...results.map((result) => [
      result.workers === 1 ? '1 worker' : `${result.workers} workers`,
      wholeNumber(result.deliveriesPerSecond),
    ]),
  ]);
}

export function storeMarkdown({ accounts, deliveriesPerSecond }: DeliveryReport['store']): string {
  return markdownTable([
    [`${accounts} accounts with one subscription each`, 'per second'],
    ['without HTTP', wholeNumber(deliveriesPerSecond)],
  ]);
}

export function accountMarkdown(result: DeliveryReport['account']): string {
  const { subscriptions, responseMs, inFlight, deliveriesPerSecond, bound } = result;
  return markdownTable([
    [`One account, ${subscriptions} receivers that respond after ${responseMs} ms`, 'per second'],
    ['measured', wholeNumber(deliveriesPerSecond)],
    [`bound: ${inFlight} requests in flight`, wholeNumber(bound)],
  ]);
}

export function cellsMarkdown(results: ResultOf<typeof measureCells>): string {
  return results
    .map(({ perSecond, one, two, ratio }) => {
      const [alone, both] = [one, two].map((each) => cell(each, 'µs'));
      return `CPU per delivery at ${perSecond} events/s: ${alone} in one cell, ${both} in two. ${ratioMarkdown(ratio)}`;
    })
    .join('\n\n');
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
        times(rateRatio),
        cell(cpu.total, 'µs'),
        times(cpuRatio),
        cell(cpu.api, 'µs'),
        cell(cpu.worker, 'µs'),
        cell(cpu.postgres, 'µs'),
      ]),
    ]),
  ].join('\n\n');
}

export function fairMarkdown({ rounds, roundMs, crowd, locked }: DeliveryReport['fair']): string {
  return [
    `Medians of ${rounds} interleaved rounds of ${roundMs / 1000} s.`,
    markdownTable([
      [`p99 of a client beside ${crowd.connections} connections`, 'p99', 'ratio'],
      [`of ${crowd.connections} clients`, `${crowd.spreadP99Ms.toFixed(1)} ms`, ''],
      ['of one client', `${crowd.oneClientP99Ms.toFixed(1)} ms`, times(crowd.p99Ratio)],
    ]),
    markdownTable([
      [`rate of ${locked.connections} clients`, 'per second', 'ratio'],
      ['alone', wholeNumber(locked.alonePerSecond), ''],
      [
        `beside ${locked.lockedConnections} connections to an account that is locked for ${locked.lockedMs / 1000} s`,
        wholeNumber(locked.besidePerSecond),
        times(locked.rateRatio),
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

export function memoryMarkdown({ connections, durationMs, eventsPerSecond, apps }: DeliveryReport['memory']): string {
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

export function statementsMarkdown({ perDelivery, idlePerSecond, byName }: DeliveryReport['statements']): string {
  return [
    `${perDelivery.toFixed(1)} statements per delivery, beside ${idlePerSecond.toFixed(1)} per second when idle.`,
    markdownTable([
      ['statement', 'per delivery'],
      ...Object.entries(byName).map(([name, count]) => [name, count.toFixed(2)]),
    ]),
  ].join('\n\n');
}

export function historyMarkdown({ sizes }: DeliveryReport['history']): string {
  const stored = sizes.map(({ storedDeliveries }) => storedDeliveries);
  const rates = sizes.map((size) => wholeNumber(size.deliveriesPerSecond));
  return [
    'Milliseconds of the statements of the worker per 1,000 deliveries, by the number of stored deliveries.',
    ...(['newEvents', 'backlog'] as const).map((kind) =>
      timesTable(
        kind === 'newEvents' ? 'new events' : 'waiting when the worker starts',
        stored,
        sizes.map((size) => size[kind]),
      ),
    ),
    `Deliveries per second: ${rates.join(' and ')}.`,
  ].join('\n\n');
}

/** The times of statements for each number of stored deliveries, and their growth. */
export function timesTable(title: string, stored: readonly number[], sizes: readonly StatementTimes[]): string {
  const names = [...new Set(sizes.flatMap((each) => Object.keys(each)))].toSorted();
  return markdownTable([
    [title, ...stored.map(wholeNumber)],
    ...names.map((name) => [name, ...sizes.map((each) => (each[name] ?? 0).toFixed(2))]),
    [`sum: ${times(growthOf(sizes))}`, ...sizes.map((each) => sumOf(each).toFixed(2))],
  ]);
}
