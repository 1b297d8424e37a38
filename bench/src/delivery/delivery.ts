import { type Bench, benchOfParts, part } from '../bench.ts';
import { measureOurPair } from './our-pair.ts';
import { measureCells } from './parts/cells.ts';
import { measureFair } from './parts/fair.ts';
import { measureHanging } from './parts/hanging.ts';
import { measureHistory } from './parts/history.ts';
import { measureIdleAndLoaded } from './parts/latency.ts';
import { measureAccount, measureStore, measureWorkers } from './parts/limits.ts';
import { measureRates } from './parts/rates.ts';
import { measureStatements } from './parts/statements.ts';
import { measureMemory, measureWrite } from './parts/write.ts';
import * as report from './report.ts';

export const delivery: Bench = benchOfParts({
  name: 'delivery',
  summary: 'the webhook engine against queues that do the same sending',
  options: {
    'per-round': {
      value: 'number',
      summary: 'deliveries per round; the default is 8,000, or 200 with --quick',
      isCount: true,
    },
  },
  savesParts: true,
  // The rates are what most readers want, so they are not nested.
  main: 'rates',
  parts: {
    rates: part(
      'deliveries per second, beside a bare signed POST, pg-boss, graphile-worker and BullMQ',
      measureRates,
      report.ratesMarkdown,
    ),
    latency: part(
      'from commit to the first byte of the request: idle, and at half of the maximum rate',
      measureIdleAndLoaded,
      report.latencyMarkdown,
    ),
    statements: part(
      'statements of the worker per delivery, at one event per second',
      measureStatements,
      report.statementsMarkdown,
    ),
    history: part(
      'the time of the statements with 10 thousand and with 5 million stored deliveries',
      measureHistory,
      report.historyMarkdown,
    ),
    hanging: part(
      'the latency of an account beside 1,000 endpoints of other accounts that never respond',
      measureHanging,
      report.hangingMarkdown,
    ),
    workers: part('the rate of one, two and three workers on one database', measureWorkers, report.workersMarkdown),
    store: part(
      'the rate without HTTP: every attempt succeeds at once, so that only the engine and its storage remain',
      measureStore,
      report.storeMarkdown,
    ),
    account: part(
      'the maximum rate of one account whose 20 receivers respond after 100 ms',
      measureAccount,
      report.accountMarkdown,
    ),
    write: part(
      'createReferral by 32 connections of one client until its webhook arrives, beside pg-boss and graphile-worker: 4 minutes',
      measureWrite,
      report.writeMarkdown,
    ),
    fair: part(
      'createReferral of a client beside 128 connections of another, and beside an account that is locked',
      measureFair,
      report.fairMarkdown,
    ),
    memory: part(
      'the memory of the built apps while 32 connections create referrals with idempotency keys (Linux)',
      measureMemory,
      report.memoryMarkdown,
    ),
    cells: part('CPU per delivery of two cells beside one: 10 minutes', measureCells, report.cellsMarkdown),
    exchanges: part(
      'deliveries per second with the details of attempts, and without (WEBHOOK_EXCHANGE_RETENTION_DAYS=0)',
      // Longer than other parts: a worker that was idle may keep the details of 200 successes at once.
      ({ quick, perRound = quick ? 200 : 32_000, progress }) =>
        measureOurPair([{ name: 'with details' }, { name: 'without', env: { WEBHOOK_EXCHANGE_RETENTION_DAYS: '0' } }], {
          quick,
          perRound,
          progress,
        }),
      report.pairMarkdown,
    ),
  },
});
