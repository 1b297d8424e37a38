import { type Bench, type BenchOptions, benchOfParts, part } from '../bench.ts';
import { measureOurPair, type PairResult } from '../delivery/our-pair.ts';
import { pairMarkdown } from '../delivery/report.ts';
import { ours } from '../delivery/workloads.ts';
import { readCheckout } from './checkout.ts';
import { idleMarkdown, measureIdle } from './parts/idle.ts';
import { measureQueries, queriesMarkdown } from './parts/queries.ts';
import { measureWriteBeside, writeBesideMarkdown } from './parts/write.ts';

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
      measureWriteBeside,
      writeBesideMarkdown,
    ),
    idle: part(
      'the latency from createReferral to the arrival of its webhook, at 20 per second',
      measureIdle,
      idleMarkdown,
    ),
    queries: part('requests per second, with the queries of `graphql`', measureQueries, queriesMarkdown),
  },
});

function measureDeliveries({
  quick,
  perRound = quick ? 200 : 16_000,
  values,
  progress,
}: BenchOptions): Promise<PairResult> {
  const { name, folder } = readCheckout(values['beside']);
  return measureOurPair([{ name: ours }, { name, checkout: folder }], { quick, perRound, progress });
}
