export {
  cancelReplay,
  type CountedDeliveries,
  countReplayed,
  insertReplay,
  type ReplayCount,
  type ReplayRange,
  type ReplayRow,
  type ReplayStatus,
  selectReplay,
  selectReplayIds,
  selectReplays,
  selectReplaysOfSubscription,
} from './replays.ts';
export { countRecentRetries, insertRetry, selectExpiredBefore } from './retries.ts';
