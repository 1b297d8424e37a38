import type {
  AccountResult,
  FairResult,
  HangingResult,
  HistoryResult,
  LatencyResult,
  MemoryResult,
  RatesResult,
  StatementsResult,
  StoreResult,
  WorkersResult,
  WriteResult,
} from '../delivery/report.ts';
import type { GraphqlReport } from '../graphql/report.ts';
import type { Machine, Report } from '../report.ts';

/** What `pnpm bench delivery --json` prints. */
export interface DeliveryReport extends RatesResult {
  bench: 'delivery';
  quick: boolean;
  machine: Machine;
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
  sender: Report;
  signing: Report;
}
