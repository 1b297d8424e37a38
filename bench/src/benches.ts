import type { Bench } from './bench.ts';
import { comparisonBench } from './comparisons/comparison.ts';
import { sender } from './comparisons/sender.ts';
import { signing } from './comparisons/signing.ts';
import { delivery } from './delivery/delivery.ts';
import { graphql } from './graphql/graphql.ts';
import { plugins } from './plugins/plugins.ts';
import { replay } from './replay/replay.ts';
import { services } from './services/services.ts';
import { versions } from './versions/versions.ts';

/** A new bench is a file in `comparisons/` or a folder, and an entry here. */
export const benches: readonly Bench[] = [
  delivery,
  replay,
  graphql,
  comparisonBench(sender),
  comparisonBench(signing),
  plugins,
  services,
  versions,
];
