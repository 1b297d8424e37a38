import { eventOf, isRetired, type InterfaceName, type Service } from '@deedwire/core';
import type { EventTypePin } from '@deedwire/webhooks/tables';
import type { ActionContext, Caller } from '../kernel/context.ts';
import type { UserError } from '../kernel/errors.ts';

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
export function listWebhookEventTypes(
  { service, now: clock }: Pick<ActionContext, 'service' | 'now'>,
  caller: Caller,
): SubscribableEventType[] {
  const now = clock();
  return service.events
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

/** As audit entries name event types and their versions. */
export function pinNames(pins: readonly EventTypePin[]): string[] {
  return pins.map(({ type, version }) => `${type}@${version}`);
}

/** The versions of an event type that a subscription can pin, oldest first. Empty if this build does not know the type. */
export function pinnableEventVersions(service: Service, type: string, now: Date): string[] {
  const versions = eventOf(service, type)?.versions ?? [];
  return versions.filter((known) => !isRetired(known, now)).map(({ version }) => version);
}

/** The user errors about a list of event types. */
export const eventTypesErrorCodes = ['EVENT_TYPES_INVALID', 'EVENT_TYPE_UNKNOWN', 'EVENT_VERSION_UNKNOWN'] as const;

export type EventTypesErrorCode = (typeof eventTypesErrorCodes)[number];

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
  service: Service,
  interfaceName: InterfaceName,
  choices: readonly EventTypeChoice[],
  pinned: readonly EventTypePin[],
  now: Date,
): { eventTypes: EventTypePin[]; userErrors: UserError<EventTypesErrorCode>[] } {
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
    const eventType = eventOf(service, type);
    if (eventType === undefined || !eventType.interfaces.includes(interfaceName)) {
      const message = describeUnknownType(service, interfaceName, type);
      userErrors.push({ code: 'EVENT_TYPE_UNKNOWN', message, field: [...field, 'type'] });
      continue;
    }
    if (eventTypes.has(type)) {
      const message = `${quote(type)} is listed twice. To receive two versions of an event type, create a second subscription.`;
      userErrors.push({ code: 'EVENT_TYPES_INVALID', message, field });
      continue;
    }
    const available = pinnableEventVersions(service, type, now);
    const current = eventType.versions.findLast(({ status }) => status === 'current')?.version;
    const chosen = version ?? pins.get(type) ?? current;
    if (chosen === undefined) {
      const message = `${quote(type)} has no released version yet. Name one of: ${available.join(', ')}.`;
      userErrors.push({ code: 'EVENT_VERSION_UNKNOWN', message, field: [...field, 'version'] });
      continue;
    }
    // An existing pin may be retired. A new one may not.
    if (version !== null && version !== undefined && !available.includes(version)) {
      const message = describeUnknownVersion(type, version, available);
      userErrors.push({ code: 'EVENT_VERSION_UNKNOWN', message, field: [...field, 'version'] });
      continue;
    }
    eventTypes.set(type, chosen);
  }
  return { eventTypes: Array.from(eventTypes, ([type, version]) => ({ type, version })), userErrors };
}

/** The message of `EVENT_VERSION_UNKNOWN`. */
export function describeUnknownVersion(type: string, version: string, available: readonly string[]): string {
  return `${quote(type)} has no version ${quote(version)}. It has: ${available.join(', ')}.`;
}

/** The message of `EVENT_TYPE_UNKNOWN`. */
export function describeUnknownType(service: Service, interfaceName: InterfaceName | null, type: string): string {
  const types = service.events
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

/**
 * Returns the name that is most similar to `wanted`, or null if none is similar: at most one edit per three characters.
 * Case and the characters between words do not count.
 */
export function nearestName(wanted: string, names: readonly string[]): string | null {
  const target = normalize(wanted);
  const maxEdits = Math.floor(target.length / 3);
  let nearest: string | null = null;
  let fewest = maxEdits + 1;
  for (const name of names) {
    const edits = countEdits(target, normalize(name));
    if (edits >= fewest) continue;
    nearest = name;
    fewest = edits;
  }
  return nearest;
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The Levenshtein distance, row by row. */
function countEdits(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
