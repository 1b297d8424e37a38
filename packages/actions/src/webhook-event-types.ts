import { isRetired } from '@deedwire/domain';
import { findEventType, webhookEventTypes } from '@deedwire/webhook-events';
import type { ActionContext, Caller } from './context.ts';

/** `WebhookEventType`. */
export interface SubscribableEventType {
  type: string;
  description: string;
  /** The versions that a subscription can pin, oldest first. */
  versions: {
    version: string;
    status: 'PREVIEW' | 'CURRENT' | 'DEPRECATED';
    /** `YYYY-MM-DD`. Null if no sunset is planned. */
    sunsetOn: string | null;
  }[];
}

const statuses = { preview: 'PREVIEW', current: 'CURRENT', deprecated: 'DEPRECATED' } as const;

/** The event types of the caller's interface, ordered by name. */
export function listWebhookEventTypes(context: Pick<ActionContext, 'now'>, caller: Caller): SubscribableEventType[] {
  const now = context.now();
  return webhookEventTypes
    .filter(({ interfaces }) => interfaces.includes(caller.interfaceName))
    .toSorted((a, b) => (a.type < b.type ? -1 : 1))
    .map(({ type, description, versions }) => ({
      type,
      description,
      versions: versions.flatMap((known) => {
        const { version, status, sunsetOn } = known;
        return status === 'retired' || isRetired(known, now) ? [] : [{ version, status: statuses[status], sunsetOn }];
      }),
    }));
}

/** The versions of an event type that a subscription can pin, oldest first. Empty if this build does not know the type. */
export function pinnableEventVersions(type: string, now: Date): string[] {
  const versions = findEventType(type)?.versions ?? [];
  return versions.filter((known) => !isRetired(known, now)).map(({ version }) => version);
}
