import type { InterfaceName } from '@deedwire/core';
import type { AccountId, EventId, SubscriptionId } from '../kernel/ids.ts';
import type { Origin } from '../kernel/pending-delivery.ts';

/** An event as the transaction of its change stored it. */
export interface StoredEvent extends Origin {
  /** Replaced by that of the fan-out when its span has started. */
  traceParent?: string;
  readonly id: EventId;
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly type: string;
  /** The record that the event is about. Null: none, or an app of an earlier release stored the event. */
  readonly recordId: string | null;
  /** The subscription that an alert is about, which does not receive it. Null for other events. */
  readonly aboutSubscriptionId: SubscriptionId | null;
  readonly occurredAt: Date;
  /** The data from which every version of the payload is rendered. */
  readonly snapshot: unknown;
  /** The owner of the subscription asked for it. It reports no change. */
  readonly isTest: boolean;
}

/** Events by their ids. */
export type EventsById = Pick<ReadonlyMap<EventId, StoredEvent>, 'get'>;

/** What a payload is rendered from. */
export type RenderedEvent = Pick<StoredEvent, 'id' | 'occurredAt' | 'snapshot' | 'type'>;

/** Renders payloads. The types and versions that it knows do not change while the process runs. */
export interface Renderer {
  knows(type: string, version: string): boolean;
  knowsType(type: string): boolean;
  /** @throws {RenderError} when no valid payload can be rendered */
  render(event: RenderedEvent, version: string): Buffer;
}

/** No valid payload can be rendered from an event. Retrying cannot help. */
export class RenderError extends Error {
  readonly code = 'RENDERING_FAILED';
  override readonly name = 'RenderError';
}
