import type { AnyEvent } from './events.ts';
import type { DeliverySource, UnsignedHeaders } from './handlers.ts';
import type { PullPositions } from './pull-positions.ts';
import type { Forgettable } from './store.ts';

/**
 * What became of a delivery.
 *
 * - `accepted`: it is stored.
 * - `duplicate`: it was stored before, whether or not it is processed yet.
 * - `busy`: another request with the same id is being stored.
 */
export type AcceptResult = 'accepted' | 'busy' | 'duplicate';

/** An authentic delivery of an event that has a handler. */
export interface InboxDelivery {
  /** The `key` of the delivery, which is the same on every attempt and after a replay. */
  readonly id: string;
  /** A second id, by which the delivery is recognized too: with `key: 'event.id'`, its `webhook-id`. */
  readonly alias?: string;
  /** As signed. It is UTF-8. */
  readonly body: Uint8Array;
  readonly unsigned: UnsignedHeaders;
  /** Defaults to `push`. */
  readonly source?: DeliverySource | undefined;
  /** An inbox accepts it also if it was processed before. If it still has a job, it is a duplicate. */
  readonly again?: boolean;
}

/** Stores deliveries, and calls the handlers later. */
export interface WebhookInbox {
  /** Whether the inbox has a handler for the event. The receiver does not store others. */
  handles(event: AnyEvent): boolean;
  /**
   * Stores a delivery durably unless its id is known. Any error means that the inbox is unavailable.
   *
   * @param signal aborts when the receiver has responded without the result. An inbox that can close its connection then does so.
   */
  accept(delivery: InboxDelivery, signal?: AbortSignal): Promise<AcceptResult>;
  /**
   * Lets processed deliveries be accepted again. Call it before a replay: a replayed delivery keeps its id.
   *
   * @returns how many were forgotten
   */
  forget(which: Forgettable): Promise<number>;
  /** For `subscription` of the receiver. */
  subscription?(): { type: string; version: string }[];
  /** For `reconcile` and `reprocess`, which refuse an inbox without it. */
  readonly positions?: PullPositions;
}
