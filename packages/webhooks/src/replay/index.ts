export {
  cancelReplay,
  countReplayed,
  insertReplay,
  type ReplayCount,
  type ReplayRange,
  type ReplayRow,
  type ReplayStatus,
  selectReplay,
  selectReplayIds,
  selectReplays,
} from './replays.ts';
export { countRecentRetries, insertRetry, selectExpiredBefore } from './retries.ts';
