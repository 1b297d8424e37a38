import type { InterfaceName } from '@deedwire/domain';
import { findEventType, webhookEventTypes } from '@deedwire/webhook-events';
import type { UserError } from './errors.ts';
import { nearestName } from './nearest-name.ts';
import { pinnableEventVersions } from './webhook-event-types.ts';
import type { SubscribedEventType } from './webhook-subscriptions.ts';

/** The user errors about a list of event types. */
export type EventTypesErrorCode = 'EVENT_TYPES_INVALID' | 'EVENT_TYPE_UNKNOWN' | 'EVENT_VERSION_UNKNOWN';

/** `WebhookSubscriptionEventTypeInput`. */
export interface EventTypeChoice {
  type: string;
  /** Null or undefined keeps the pinned version, or pins the current one. */
  version?: string | null | undefined;
}

// Enough for a client to find its mistake. Without a limit, a list of thousands of types would draw a much larger response.
const userErrorsMax = 20;

const quotedMaxLength = 60;

/**
 * Pins a version of each event type that a client chose.
 *
 * @param pinned the pins of the subscription. A type without a version keeps its pin.
 * @returns the pins and at most 20 user errors. The pins are valid only if there is no user error.
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
    if (userErrors.length >= userErrorsMax) break;
    const field = ['input', 'eventTypes', String(index)];
    const eventType = findEventType(type);
    if (eventType === undefined || !eventType.interfaces.includes(interfaceName)) {
      const message = describeUnknownType(interfaceName, type);
      userErrors.push({ code: 'EVENT_TYPE_UNKNOWN', message, field: [...field, 'type'] });
      continue;
    }
    if (eventTypes.has(type)) {
      const message = `${quote(type)} is listed twice. To receive two versions of an event type, create a second subscription.`;
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
    // An existing pin may be retired. A new one may not.
    if (version !== null && version !== undefined && !available.includes(version)) {
      const message = `${quote(type)} has no version ${quote(version)}. It has: ${available.join(', ')}.`;
      userErrors.push({ code: 'EVENT_VERSION_UNKNOWN', message, field: [...field, 'version'] });
      continue;
    }
    eventTypes.set(type, chosen);
  }
  return { eventTypes: Array.from(eventTypes, ([type, version]) => ({ type, version })), userErrors };
}

/** The message of `EVENT_TYPE_UNKNOWN`. */
export function describeUnknownType(interfaceName: InterfaceName | null, type: string): string {
  const types = webhookEventTypes
    .filter(({ interfaces }) => interfaceName === null || interfaces.includes(interfaceName))
    .map((eventType) => eventType.type);
  // A longer text is not a misspelled type, and comparing it would take long.
  const nearest = type.length > quotedMaxLength ? null : nearestName(type, types);
  const suggestion = nearest === null ? '' : ` Did you mean "${nearest}"?`;
  const of = interfaceName === null ? 'Deedwire' : `The ${interfaceName} interface`;
  return `${of} has no event type ${quote(type)}.${suggestion} Its event types are ${types.join(', ')}.`;
}

/** A value of the client, quoted, and truncated for an error message. */
function quote(value: string): string {
  return JSON.stringify(value.length > quotedMaxLength ? `${value.slice(0, quotedMaxLength)}…` : value);
}
