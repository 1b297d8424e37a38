import type { DispatchEvent } from './dispatch/events.ts';
import type { DispatchStorageEvent } from './dispatch/store-dispatch.ts';
import type { FanOutEvent } from './fan-out/events.ts';
import type { SubscriptionId } from './ids.ts';
import type { RetentionEvent } from './retention/events.ts';
import type { WorkersEvent } from './workers/events.ts';

/** What the engine reports for logs and metrics. Those with `alarm: true` need the attention of an operator. */
export type EngineEvent =
  | DispatchEvent
  | DispatchStorageEvent
  | FanOutEvent
  | WorkersEvent
  | RetentionEvent
  /** Subscriptions were paused because they pin a retired version. */
  | { readonly kind: 'retired-paused'; readonly subscriptions: readonly SubscriptionId[] }
  /** The lanes of shards cannot be read. They are read again after a delay. */
  | { readonly kind: 'shards-unreadable'; readonly shards: number; readonly error: unknown };
