/** What the tests of `actions` use of the engine: its data, and the writers of the rows that they read. */
export { selectLane, selectLanesOfShard, selectTargets } from '../../src/dispatch/sql/lanes.ts';
export type { ExchangesEvent } from '../../src/events.ts';
export type { AttemptDetails } from '../../src/exchanges/sql/insert-exchanges.ts';
export { Exchanges } from '../../src/exchanges/exchanges.ts';
export { writeRound } from '../../src/fan-out/sql/round.ts';
export { FencedOutError } from '../../src/fence/fence.ts';
export type { WorkerId } from '../../src/fence/fence.ts';
export { shardOf } from '../../src/kernel/ids.ts';
export { pauseRetiredSubscriptions } from '../../src/subscriptions/pause-retired-subscriptions.ts';
export { planOf } from './plan-of.ts';
export { createPastPartitions, fillHistory, type History, type HistorySize } from './history.ts';
export {
  createServiceDatabase,
  samplePin,
  seedAccount,
  type SeededAccount,
  seedSubscription,
  seedWorker,
} from './seed.ts';
export { testStolenLogin } from './stolen-login.ts';
