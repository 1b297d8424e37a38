import type { Bench } from '../bench.ts';
import { comparisonBench } from '../comparison-bench.ts';
import { delivery } from '../delivery/delivery.ts';
import { graphql } from '../graphql/graphql.ts';
import { plugins } from '../plugins/plugins.ts';
import { replay } from '../replay/replay.ts';
import { services } from '../services/services.ts';
import { versions } from '../versions/versions.ts';
import { comparisonBenches } from './comparison-benches.ts';

/** A new bench is a file in this folder, or a folder beside it, and an entry here. */
export const benches: readonly Bench[] = [
  delivery,
  replay,
  graphql,
  ...comparisonBenches.map(comparisonBench),
  plugins,
  services,
  versions,
];
