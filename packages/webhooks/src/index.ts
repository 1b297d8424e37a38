export { type Send } from './dispatch/attempts.ts';
export { type NextStep } from './dispatch/classify-attempt.ts';
export { type Clock } from './dispatch/clock.ts';
export {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
  type DispatcherStats,
} from './dispatch/dispatcher.ts';
export { type DispatchAlarm, type DispatchEvent, type OnDispatchEvent, type StorageCall } from './dispatch/events.ts';
export { type LaneId } from './dispatch/lane-registry.ts';
export { cleanLaneState, type LaneState } from './dispatch/lane-state.ts';
export { type LaneTarget, type SendableTarget } from './dispatch/lane-target.ts';
export { type MemoryLimits } from './dispatch/memory.ts';
export { type PendingDelivery } from './dispatch/pending-delivery.ts';
export {
  type AttemptRecord,
  type DispatchStorage,
  type PauseReason,
  type Refill,
  type RefillOptions,
  type Settlement,
  type SettleResult,
} from './dispatch/storage.ts';
export { createFanOut, type FanOut, type FanOutOptions } from './fan-out/fan-out.ts';
export {
  type FanOutAlarm,
  type FanOutCall,
  type FanOutEvent,
  type OnFanOutEvent,
  type RoundKind,
} from './fan-out/events.ts';
export { type FanOutLimits } from './fan-out/limits.ts';
export { RenderError, type Renderer, type StoredEvent } from './fan-out/renderer.ts';
export { type AccountId, type DeliveryId, type EventId, type SubscriptionId } from './ids.ts';
export { type Shard, shardCount, shardOf } from './shard.ts';
