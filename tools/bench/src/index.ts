export type { Bench, BenchOptions, BenchResult } from './bench.ts';
export { benches, benchNamed } from './benches/index.ts';
export { comparisonBenches } from './benches/comparison-benches.ts';
