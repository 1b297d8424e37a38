import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median } from 'simple-statistics';
import { type Bench, type BenchOptions, benchOfParts, BenchProblem, part, type ResultOf } from '../bench.ts';
import { currentCommit } from '../commit.ts';
import { latencyHeader, latencyRow, summarize } from '../delivery/latency.ts';
import { measureOurPair, type PairResult } from '../delivery/our-pair.ts';
import { createOurSystem } from '../delivery/ours/our-system.ts';
import { pairMarkdown, writeMarkdown } from '../delivery/report.ts';
import { type Stack, withStack } from '../delivery/stack.ts';
import { ours } from '../delivery/workloads.ts';
import { startOurContestants } from '../delivery/write/our-contestants.ts';
import { runWriteRounds } from '../delivery/write/rounds.ts';
import { startOurs } from '../graphql/contestant.ts';
import { startLoad, withWorld } from '../graphql/load.ts';
import { measureContestants, ratioResults, ratioTable } from '../graphql/rounds.ts';
import { shapes } from '../graphql/shapes.ts';
import { markdownTable, times } from '../report.ts';
import { interleaved, medianRatio } from '../rounds.ts';
import { measureLatencies } from '../services/cases.ts';
import type { Defer } from '../with-cleanup.ts';

export const versions: Bench = benchOfParts({
  name: 'versions',
  summary: 'our apps beside those of another checkout, each on a database of its own with the migrations of this one',
  options: {
    'per-round': {
      value: 'number',
      summary: 'deliveries per round of deliveries; the default is 16,000, or 200 with --quick',
      isCount: true,
    },
    beside: { value: 'folder', summary: 'the other checkout, which is installed' },
    migration: {
      value: 'number',
      summary: 'of write: the last migration of its database; the default is the last of all',
    },
  },
  parts: {
    deliveries: part('deliveries per second, in the workloads of `delivery`', measureDeliveries, pairMarkdown),
    write: part(
      'createReferral by 32 connections of one client until its webhook arrives',
      measureWrite,
      ({ withoutKeys, withKeys }) => [withoutKeys, withKeys].map(writeMarkdown).join('\n\n'),
    ),
    idle: part(
      'the latency from createReferral to the arrival of its webhook, at 20 per second',
      measureIdle,
      idleMarkdown,
    ),
    queries: part('requests per second, with the queries of `graphql`', measureQueries, queriesMarkdown),
  },
});

/**
 * Another checkout of this repository: the first digits of its commit, and its folder, with a slash at its end.
 *
 * @throws {BenchProblem} unless `path` is the folder of an installed checkout
 */
function readCheckout(path: string | undefined) {
  if (path === undefined)
    throw new BenchProblem('Name the folder of another checkout of this repository: --beside <folder>.');
  const folder = resolve(process.env['INIT_CWD'] ?? '.', path);
  if (!existsSync(resolve(folder, 'apps/webhook-worker/package.json')))
    throw new BenchProblem(`--beside must be the folder of a checkout of this repository, not "${path}".`);
  if (!existsSync(resolve(folder, 'apps/webhook-worker/node_modules')))
    throw new BenchProblem(`"${path}" is not installed. Run \`pnpm install\` there.`);
  const url = pathToFileURL(`${folder}/`);
  return { name: currentCommit(url), folder: url };
}

/** Starts our API and worker of this checkout and of another one, each with a database and a receiver of its own. */
async function startBoth(
  { postgres, receiver, system }: Stack,
  { name, folder }: ReturnType<typeof readCheckout>,
  { path, migration }: { path: string; migration?: string | undefined },
  defer: Defer,
) {
  const [ourUrl = '', otherUrl = ''] = receiver.origins.map((origin) => `${origin}${path}`);
  const own = await startOurContestants(system, ourUrl, { built: false, defer });
  const otherSystem = await createOurSystem(postgres, 'beside', defer, migration);
  return [own, await startOurContestants(otherSystem, otherUrl, { built: false, defer, name, checkout: folder })];
}

function measureDeliveries({
  quick,
  perRound = quick ? 200 : 16_000,
  values,
  progress,
}: BenchOptions): Promise<PairResult> {
  const { name, folder } = readCheckout(values['beside']);
  return measureOurPair([{ name: ours }, { name, checkout: folder }], { quick, perRound, progress });
}

function measureWrite({ quick, values, progress }: BenchOptions) {
  const other = readCheckout(values['beside']);
  const [rounds, roundMs, warmUpMs] = quick ? [1, 1_000, 500] : [7, 6_000, 5_000];
  const plan = { connections: 32, rounds, roundMs, warmUpMs };
  return withStack(2, async (stack, defer) => {
    progress('Starting the servers');
    const both = await startBoth(stack, other, { path: '/hooks', migration: values['migration'] }, defer);
    const servers = { ...stack, load: await startLoad(defer) };
    const measure = async (kind: 'withoutKeys' | 'withKeys') => {
      const contestants = both.map(({ [kind]: contestant }) => contestant);
      return { ...plan, results: await runWriteRounds(contestants, servers, plan, progress) };
    };
    return { withoutKeys: await measure('withoutKeys'), withKeys: await measure('withKeys') };
  });
}

// A guard against hanging only.
const timeoutMs = 60_000;

function measureIdle({ quick, values, progress }: BenchOptions) {
  const other = readCheckout(values['beside']);
  const { rounds, events } = quick ? { rounds: 1, events: 10 } : { rounds: 7, events: 100 };
  return withStack(2, async (stack, defer) => {
    progress('Starting the servers');
    const both = await startBoth(stack, other, { path: '/event/0' }, defer);
    const contestants = both.map(({ withoutKeys }) => withoutKeys);
    const measured = await interleaved(contestants, rounds + 1, async ({ name, request }, round) => {
      progress(`Round ${round - 1} of ${rounds}: ${name}`);
      const latencies = await measureLatencies(request, { events, timeoutMs }, stack.receiver);
      if (!latencies.every(Number.isFinite)) throw new Error(`${name}: events did not arrive.`);
      return latencies;
    });
    // The first round only compiles the code.
    const [ourRounds = [], otherRounds = []] = Array.from(measured.values(), (each) => each.slice(1));
    return {
      rounds,
      results: [
        { name: ours, ...summarize(ourRounds.flat()) },
        { name: other.name, ...summarize(otherRounds.flat()) },
      ],
      p50Ratio: medianRatio(ourRounds, otherRounds, median) ?? Number.NaN,
    };
  });
}

function idleMarkdown({ rounds, results, p50Ratio }: ResultOf<typeof measureIdle>): string {
  return [
    markdownTable([
      latencyHeader('Call to the first byte of the request'),
      ...results.map(({ name, ...summary }) => latencyRow(name, summary)),
    ]),
    `Ratio of the p50 in the same of ${rounds} rounds: ${times(p50Ratio)}.`,
  ].join('\n\n');
}

function measureQueries({ quick, values, progress }: BenchOptions) {
  const { name: other, folder } = readCheckout(values['beside']);
  const plan = quick ? { rounds: 2, roundMs: 50, warmUpMs: 50 } : { rounds: 15, roundMs: 700, warmUpMs: 3_000 };
  return withWorld(quick ? 2 : Infinity, async (world, load, defer) => {
    const results = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const contestants = [
        await startOurs(world, interfaceName, { name: other, built: false, checkout: folder }, defer),
        await startOurs(world, interfaceName, { name: ours, built: false }, defer),
      ];
      for (const shape of shapes.filter((each) => each.interfaceName === interfaceName)) {
        const report = (line: string): void => progress(`${shape.name}: ${line}`);
        const measured = await measureContestants(shape, contestants, world, load, plan, report);
        results.push({ title: shape.title, results: ratioResults(measured) });
      }
    }
    return { rounds: plan.rounds, shapes: results };
  });
}

function queriesMarkdown({ rounds, shapes: each }: ResultOf<typeof measureQueries>): string {
  return [
    `Medians of ${rounds} interleaved rounds. The ratio of the rates is the geometric mean, with the interval of 95 %.`,
    ...each.map(({ title, results }) => ratioTable(title, results)),
  ].join('\n\n');
}
