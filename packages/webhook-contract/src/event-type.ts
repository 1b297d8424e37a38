import type { z } from 'zod';
import type { InterfaceName } from './generated/interface-name.ts';
import type { WebhookEvent } from './generated/webhook-event.ts';
import { strict } from './strict.ts';

export type { InterfaceName };

/**
 * The lifecycle status of a version.
 *
 * - `preview`: incompatible changes are possible; delivered only to subscriptions that name the version.
 * - `current`: only compatible additions are made.
 * - `deprecated`: delivered until `sunsetOn`.
 * - `retired`: no longer delivered; subscriptions cannot pin it.
 */
export type EventVersionStatus = 'preview' | 'current' | 'deprecated' | 'retired';

/**
 * A version without its schemas. `WebhookEventVersion` repeats the members instead of extending this type, so that its own
 * contract (`api/index.api.json`) lists them.
 */
export interface RegisteredEventVersion {
  /** The date that names the version, for example `2026-11-01`. */
  readonly version: string;
  readonly status: EventVersionStatus;
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`, when subscriptions that still pin the version are paused. Null if no sunset is planned. */
  readonly sunsetOn: string | null;
}

/** An event type without the schemas of its versions. */
export interface RegisteredEventType {
  /** The name of the event type, for example `referral.converted`. */
  readonly type: string;
  /** A one-sentence summary of the event. */
  readonly description: string;
  /** Those that have it. A later release can add interfaces. */
  readonly interfaces: readonly InterfaceName[];
  /** Oldest first. */
  readonly versions: readonly RegisteredEventVersion[];
}

export interface WebhookEventVersion {
  /** The date that names the version, for example `2026-11-01`. */
  readonly version: string;
  readonly status: EventVersionStatus;
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`, when subscriptions that still pin the version are paused. Null if no sunset is planned. */
  readonly sunsetOn: string | null;
  /** The schema of the whole body, envelope included, for receivers. It accepts unknown fields and removes them. */
  readonly body: z.ZodType<WebhookEvent>;
  /** The schema of `data` for producers. It rejects unknown fields at every depth. */
  readonly data: z.ZodType;
}

export interface WebhookEventType {
  /** The name of the event type, for example `referral.converted`. */
  readonly type: string;
  /** A one-sentence summary of the event. */
  readonly description: string;
  /** Those that have it. A later release can add interfaces. */
  readonly interfaces: readonly InterfaceName[];
  /** Oldest first. */
  readonly versions: readonly WebhookEventVersion[];
}

/** What the source of a payload exports. */
export type BodySchema = z.ZodObject<{ type: z.ZodLiteral<string>; data: z.ZodObject }> & z.ZodType<WebhookEvent>;

/** A version with its schemas. */
export function eventVersion(registered: RegisteredEventVersion, body: BodySchema): WebhookEventVersion {
  const { type, data } = body.shape;
  return { ...registered, body, data: strict(data, `${type.value} at ${registered.version}: data`) };
}
