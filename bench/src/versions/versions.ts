import { type Bench, benchOfParts, part } from '../bench.ts';
import { besideOption } from '../checkout/checkout.ts';
import { comparedMarkdown } from './compare.ts';
import { compareDeliveries } from './deliveries.ts';
import { compareIdle } from './idle.ts';
import { compareQueries } from './queries.ts';
import { compareWriting } from './write.ts';

export const versions: Bench = benchOfParts({
  name: 'versions',
  summary: 'our apps beside those of another checkout, each on a database that its own CLI and API have filled',
  options: {
    'per-round': {
      value: 'number',
      summary: 'deliveries per round of deliveries; the default is 8,000, or 200 with --quick',
      isCount: true,
    },
    beside: besideOption,
  },
  parts: {
    write: part('createReferral by 32 connections until its webhook arrives', compareWriting, comparedMarkdown),
    deliveries: part('deliveries per second, in the workloads of `delivery`', compareDeliveries, comparedMarkdown),
    idle: part('the latency from the call to the arrival', compareIdle, comparedMarkdown),
    queries: part('requests per second, with the queries of `graphql`', compareQueries, comparedMarkdown),
  },
});
