import type { InboxDelivery } from './webhook-inbox.ts';

export interface EventName {
  readonly type: string;
  readonly version: string;
}

/** An authentic event that had no handler when it arrived. */
export interface KeptEvent extends EventName, InboxDelivery {}

/** Keeps events that have no handler, until one is deployed. */
export interface KeptEvents {
  /**
   * Keeps an event unless its id is known. Resolves with false if there is no room.
   *
   * @param signal aborts when the receiver has responded without the result
   */
  keep(event: KeptEvent, signal?: AbortSignal): Promise<boolean>;
  /** The types and versions of which events are kept. */
  names(): Promise<readonly EventName[]>;
  /**
   * Some events of a type and version, in the order of their ids. None if there are no more.
   *
   * @param after the id of the last event before, or null
   */
  page(name: EventName, after: string | null): Promise<readonly InboxDelivery[]>;
  remove(id: string): Promise<void>;
}
