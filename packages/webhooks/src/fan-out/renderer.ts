import type { InterfaceName } from '@deedwire/domain';
import type { AccountId, EventId } from '../ids.ts';

/** An event as its transaction stored it. */
export interface StoredEvent {
  readonly id: EventId;
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly type: string;
  readonly occurredAt: Date;
  /** Everything that any version of the payload needs. */
  readonly snapshot: unknown;
  /** Null if no request caused the event. */
  readonly requestId: string | null;
}

/** Makes the payloads. What it knows does not change while the process runs. */
export interface Renderer {
  knows(type: string, version: string): boolean;
  knowsType(type: string): boolean;
  /** @throws {RenderError} when no valid payload can be rendered */
  render(event: StoredEvent, version: string): Buffer;
}

/** No valid payload can be rendered from an event. Another try cannot help. */
export class RenderError extends Error {
  readonly code = 'RENDERING_FAILED';
  override readonly name = 'RenderError';
}
