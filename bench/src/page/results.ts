import type { ResultOf } from '../bench.ts';
import type { ComparisonReport } from '../comparisons/comparison.ts';
import type { measureFair } from '../delivery/parts/fair.ts';
import type { measureHanging } from '../delivery/parts/hanging.ts';
import type { measureHistory } from '../delivery/parts/history.ts';
import type { measureIdleAndLoaded } from '../delivery/parts/latency.ts';
import type { measureAccount, measureStore, measureWorkers } from '../delivery/parts/limits.ts';
import type { RatesResult } from '../delivery/parts/rates.ts';
import type { measureStatements } from '../delivery/parts/statements.ts';
import type { measureMemory, WriteResult } from '../delivery/parts/write.ts';
import type { GraphqlReport } from '../graphql/report.ts';
import type { ReportHead } from '../report.ts';
import type { Comparison } from '../versions/compare.ts';

/** What `pnpm bench delivery --json` prints. */
export interface DeliveryReport extends ReportHead, RatesResult {
  /** The commit that each part was measured at. */
  commits: Record<string, string>;
  latency: ResultOf<typeof measureIdleAndLoaded>;
  statements: ResultOf<typeof measureStatements>;
  history: ResultOf<typeof measureHistory>;
  hanging: ResultOf<typeof measureHanging>;
  workers: ResultOf<typeof measureWorkers>;
  store: ResultOf<typeof measureStore>;
  account: ResultOf<typeof measureAccount>;
  write: WriteResult;
  fair: ResultOf<typeof measureFair>;
  memory: ResultOf<typeof measureMemory>;
}

/** What `pnpm bench versions --json` prints. */
export interface VersionsReport extends ReportHead {
  write: Comparison;
  deliveries: Comparison;
  idle: Comparison;
  queries: Comparison;
}

/** The files in `bench/results`, which `--save` writes. */
export interface Results {
  delivery: DeliveryReport;
  graphql: GraphqlReport;
  sender: ComparisonReport;
  signing: ComparisonReport;
  versions: VersionsReport;
}
