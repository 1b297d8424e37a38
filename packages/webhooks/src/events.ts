import type { DispatchEvent } from './dispatch/events.ts';
import type { DispatchStorageEvent } from './dispatch/store-dispatch.ts';
import type { ExchangesEvent } from './exchanges/events.ts';
import type { FanOutEvent } from './fan-out/events.ts';
import type { SubscriptionId } from './kernel/ids.ts';
import type { Shard } from './kernel/shard.ts';
import type { ReplayEvent } from './replay/events.ts';
import type { RetentionEvent } from './retention/events.ts';
import type { BacklogEvent } from './subscriptions/backlog-remover.ts';
import type { WorkersEvent } from './workers/events.ts';

/** Events for logs and metrics. An event with `alarm: true` needs an operator. */
export type EngineEvent =
  | DispatchEvent
  | DispatchStorageEvent
  | FanOutEvent
  | WorkersEvent
  | RetentionEvent
  | BacklogEvent
  | ExchangesEvent
  | ReplayEvent
  /** The next number of a sequence is not beyond the numbers that rows contain. An operator must advance it. Raised once. */
  | { readonly kind: 'sequence-behind'; readonly alarm: true; readonly sequence: string; readonly command: string }
  /** Subscriptions were paused because they pin a retired version. */
  | { readonly kind: 'retired-paused'; readonly subscriptions: readonly SubscriptionId[] }
  /** Reading the lanes of an acquired shard failed. The engine retries after a delay. */
  | { readonly kind: 'shard-unreadable'; readonly shard: Shard; readonly error: unknown }
  /** The lanes of a shard were read after that had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'shards' };
