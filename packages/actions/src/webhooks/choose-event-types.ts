import type { InterfaceName } from '@deedwire/domain';
import { findEventType } from '@deedwire/webhook-events';
import type { UserError } from '../user-error.ts';
import { pinnableEventVersions } from './event-versions.ts';
import type { SubscribedEventType } from './records.ts';

/** The user errors about a list of event types. */
export type EventTypesErrorCode = 'EVENT_TYPES_INVALID' | 'EVENT_TYPE_UNKNOWN' | 'EVENT_VERSION_UNKNOWN';

/** Mirrors `WebhookSubscriptionEventTypeInput`. Null or undefined: no version was named. */
export interface EventTypeChoice {
  type: string;
  version?: string | null | undefined;
}

/**
 * Pins a version for each event type that a client chose.
 *
 * @param pinned what the subscription pins already: a type that is kept without naming a version keeps its pin
 * @returns what to pin, and the errors, 20 at most; what to pin counts only when there is none
 */
export function chooseEventTypes(
  interfaceName: InterfaceName,
  choices: readonly EventTypeChoice[],
  pinned: readonly SubscribedEventType[],
  now: Date,
): { eventTypes: SubscribedEventType[]; userErrors: UserError<EventTypesErrorCode>[] } {
  const pins = new Map(pinned.map(({ type, version }) => [type, version]));
  const eventTypes = new Map<string, string>();
  const userErrors: UserError<EventTypesErrorCode>[] = [];
  if (choices.length === 0) {
    userErrors.push({
      code: 'EVENT_TYPES_INVALID',
      message: 'Name at least one event type.',
      field: ['input', 'eventTypes'],
    });
  }
  for (const [index, { type, version }] of choices.entries()) {
    // Enough to see what is wrong: a request that fits thousands would draw an answer many times its size.
    if (userErrors.length >= userErrorsMax) break;
    const field = ['input', 'eventTypes', String(index)];
    const eventType = findEventType(type);
    if (eventType === undefined || !eventType.interfaces.includes(interfaceName)) {
      const message = `The ${interfaceName} interface has no event type ${quote(type)}. \`webhookEventTypes\` lists those it has.`;
      userErrors.push({ code: 'EVENT_TYPE_UNKNOWN', message, field: [...field, 'type'] });
      continue;
    }
    if (eventTypes.has(type)) {
      const message = `${quote(type)} is named twice. To receive two versions of an event, make a second subscription.`;
      userErrors.push({ code: 'EVENT_TYPES_INVALID', message, field });
      continue;
    }
    const available = pinnableEventVersions(type, now);
    const current = eventType.versions.findLast(({ status }) => status === 'current')?.version;
    const chosen = version ?? pins.get(type) ?? current;
    if (chosen === undefined) {
      const message = `${quote(type)} has no released version yet. Name one of: ${available.join(', ')}.`;
      userErrors.push({ code: 'EVENT_VERSION_UNKNOWN', message, field: [...field, 'version'] });
      continue;
    }
    // A pin that is kept may be retired: only choosing one is refused.
    if (version !== null && version !== undefined && !available.includes(version)) {
      const message = `${quote(type)} has no version ${quote(version)}. It has: ${available.join(', ')}.`;
      userErrors.push({ code: 'EVENT_VERSION_UNKNOWN', message, field: [...field, 'version'] });
      continue;
    }
    eventTypes.set(type, chosen);
  }
  return { eventTypes: Array.from(eventTypes, ([type, version]) => ({ type, version })), userErrors };
}

const userErrorsMax = 20;

const quotedMaxLength = 60;

/** What a client sent, short enough to repeat. */
function quote(value: string): string {
  return JSON.stringify(value.length > quotedMaxLength ? `${value.slice(0, quotedMaxLength)}…` : value);
}
