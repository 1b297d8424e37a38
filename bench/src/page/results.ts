import type { ComparisonReport } from '../comparisons/comparison.ts';
import type { FairResult } from '../delivery/parts/fair.ts';
import type { HangingResult } from '../delivery/parts/hanging.ts';
import type { HistoryResult } from '../delivery/parts/history.ts';
import type { LatencyResult } from '../delivery/parts/latency.ts';
import type { AccountResult, StoreResult, WorkersResult } from '../delivery/parts/limits.ts';
import type { MemoryResult } from '../delivery/parts/memory.ts';
import type { RatesResult } from '../delivery/parts/rates.ts';
import type { StatementsResult } from '../delivery/parts/statements.ts';
import type { WriteResult } from '../delivery/parts/write.ts';
import type { GraphqlReport } from '../graphql/report.ts';
import type { ReportHead } from '../report.ts';

/** What `pnpm bench delivery --json` prints. */
export interface DeliveryReport extends ReportHead, RatesResult {
  /** The commit that each part was measured at. */
  commits: Record<string, string>;
  latency: LatencyResult;
  statements: StatementsResult;
  history: HistoryResult;
  hanging: HangingResult;
  workers: WorkersResult;
  store: StoreResult;
  account: AccountResult;
  write: WriteResult;
  fair: FairResult;
  memory: MemoryResult;
}

/** The files in `bench/results`, which `--save` writes. */
export interface Results {
  delivery: DeliveryReport;
  graphql: GraphqlReport;
  sender: ComparisonReport;
  signing: ComparisonReport;
}
