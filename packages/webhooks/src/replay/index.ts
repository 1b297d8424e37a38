export { countRecentRetries, insertRetry, selectExpiredBefore } from './retries.ts';
