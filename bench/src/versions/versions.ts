import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Bench, type BenchOptions, benchOfParts, BenchProblem, part, type ResultOf } from '../bench.ts';
import { currentCommit } from '../commit.ts';
import { measureOurPair } from '../delivery/our-pair.ts';
import { createOurSystem } from '../delivery/ours/our-system.ts';
import { connections, short } from '../delivery/parts/write.ts';
import { pairMarkdown, ratioMarkdown, writeMarkdown } from '../delivery/report.ts';
import { withServers } from '../delivery/stack.ts';
import { ours } from '../delivery/workloads.ts';
import { startOurContestants } from '../delivery/write/our-contestants.ts';
import { runWriteRounds, type WriteContestant, writeResults } from '../delivery/write/rounds.ts';
import { startOurs } from '../graphql/contestant.ts';
import { startLoad, withWorld } from '../graphql/load.ts';
import { measureContestants, ratioResults, ratioTable } from '../graphql/rounds.ts';
import { shapes } from '../graphql/shapes.ts';
import { meanRatio, rateRatios } from '../rounds.ts';

export const versions: Bench = benchOfParts({
  name: 'versions',
  summary: 'our apps beside those of another checkout: deliveries and write each on a database that it migrated',
  options: {
    'per-round': {
      value: 'number',
      summary: 'deliveries per round of deliveries; the default is 16,000, or 200 with --quick',
      isCount: true,
    },
    beside: { value: 'folder', summary: 'the other checkout, which is installed' },
  },
  parts: {
    deliveries: part('deliveries per second, in the workloads of `delivery`', measureDeliveries, pairMarkdown),
    write: part('createReferral by 32 connections until its webhook arrives', measureWriting, writingMarkdown),
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

function measureDeliveries({ quick, perRound = quick ? 200 : 16_000, values, progress }: BenchOptions) {
  const { name, folder } = readCheckout(values['beside']);
  return measureOurPair([{ name: ours }, { name, checkout: folder }], { quick, perRound, progress });
}

function measureWriting({ quick, values, progress }: BenchOptions) {
  const { name: other, folder: checkout } = readCheckout(values['beside']);
  const plan = quick ? short : { connections, rounds: 15, roundMs: 5_000, warmUpMs: 5_000 };
  return withServers(2, async ({ postgres, receiver }, defer) => {
    const contestants: WriteContestant[] = [];
    for (const [name, options] of [[ours, { checkout: undefined }] as const, [other, { checkout }] as const]) {
      const system = await createOurSystem(postgres, `write-${contestants.length}`, defer, options.checkout);
      const url = `${receiver.origins[contestants.length] ?? ''}/hooks`;
      const { withoutKeys } = await startOurContestants(system, url, { built: false, defer, ...options });
      contestants.push({ ...withoutKeys, name });
    }
    const load = await startLoad(defer);
    const measured = await runWriteRounds(contestants, { load, receiver, postgres }, plan, progress);
    const rateRatio = meanRatio(rateRatios(measured.get(ours) ?? [], measured.get(other) ?? []));
    return { ...plan, results: writeResults(measured), rateRatio };
  });
}

function writingMarkdown(result: ResultOf<typeof measureWriting>): string {
  return `${writeMarkdown(result)}\n\n${ratioMarkdown(result.rateRatio)}`;
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
